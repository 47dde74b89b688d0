/** The steps of clients: requests to the API, which clients repeat until they are answered. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { createKey } from '../../../service/accounts/api-key.ts';
import type { KeyId } from '../../../service/values/ids.ts';
import type { Operation } from '../aws/deployed-service.ts';
import { pictures } from '../network/providers.ts';
import { type AccountHeld, freshKey, keyAt, type KeyHeld, promptMark } from './open-accounts.ts';
import { acceptedIn, bodyOf, detailsOf, eventOf, memberOf, submission } from './requests.ts';
import type { FollowEvents, Step, Submit } from './scenario.ts';
import type { Stage } from './stage.ts';

export function createApiSteps(stage: Stage) {
  const { world, service, invariants, accountOf } = stage;
  const { dice } = world;
  const seen: { id: string; account: string }[] = [];

  async function send(
    operation: Operation,
    account: AccountHeld,
    key: KeyHeld,
    event: APIGatewayProxyEventV2,
  ): Promise<APIGatewayProxyStructuredResultV2 | undefined> {
    const slackMillis = world.clocks.largestSkew() + 1_000;
    const refusable = (): boolean =>
      key.revoked || account.suspended || world.time.now() > key.mayEndAt - slackMillis;
    const before = refusable();
    const hasEnded = world.time.now() > key.mustEndBy + slackMillis;
    const mustBeRefused = key.revocationHolds || account.suspensionHolds || hasEnded;
    const asked = invariants.ask(account.id);
    try {
      const answer = await service.request(operation, event);
      invariants.onAnswer(
        {
          ...asked,
          account: account.id,
          operation,
          mayBeRefused: before || refusable(),
          mustBeRefused: mustBeRefused && (key.revocationHolds || account.suspensionHolds || hasEnded),
        },
        answer,
      );
      return answer;
    } catch {
      // The answer did not reach the client, so the client knows nothing.
      return undefined;
    }
  }

  const uploads = createUploadSteps(stage, send);

  async function submit(step: Submit): Promise<void> {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    const event = submission({ ...step, images: uploads.named(step.images) }, key);
    const tries = step.idempotencyKey === undefined ? 1 : 3;
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const answer = await send('generate', account, key, event);
      const status = answer?.statusCode ?? 0;
      world.note(`client ${step.name} try ${attempt}: ${status}`);
      if (answer && status < 300) {
        const ids = acceptedIn(bodyOf(answer.body)).map((creation) => memberOf(creation, 'id'));
        seen.push(...ids.map((id) => ({ id, account: account.id })));
        await Promise.all(
          ids.flatMap((id) => [
            poll(step, id, account, key),
            cancel(step, id, account, key),
            remove(step, id, account, key),
          ]),
        );
        return;
      }
      if (status >= 400 && status < 500 && status !== 429) return;
      await world.sleep(Math.min(5_000, 1000 * Number(answer?.headers?.['retry-after'] ?? 1)));
    }
  }

  async function poll(step: Submit, id: string, account: AccountHeld, key: KeyHeld): Promise<void> {
    for (let poll = 0; poll < step.polls; poll += 1) {
      await world.sleep(dice.between(`${step.name} poll ${poll}`, 300, 8_000));
      await send('get', account, key, pollOf(id, key));
    }
  }

  /** Cancels until the service has answered with a verdict. */
  async function cancel(step: Submit, id: string, account: AccountHeld, key: KeyHeld): Promise<void> {
    if (step.cancelAfter === undefined) return;
    await world.sleep(step.cancelAfter);
    const event = eventOf('POST', `/api/public/v1/creations/${id}/cancel`, key, {}, undefined, id);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      invariants.cancels.onAsked(id);
      const answer = await send('cancel', account, key, event);
      const status = answer?.statusCode ?? 0;
      world.note(`client ${step.name} cancels, try ${attempt}: ${status}`);
      const isDenied = detailsOf(answer?.body)?.['reason'] === 'not_cancellable';
      if (status === 200) invariants.cancels.onAnswer(id, bodyOf(answer?.body));
      if (isDenied) invariants.cancels.onAnswered(id, 'not_cancellable');
      if (status >= 200 && status < 500 && status !== 429) return;
      await world.sleep(1_000);
    }
  }

  /** Asks for the deletion, of all or of the results, until the service has answered with 204. */
  async function remove(step: Submit, id: string, account: AccountHeld, key: KeyHeld): Promise<void> {
    if (step.deleteAfter === undefined) return;
    await world.sleep(step.deleteAfter);
    const path = `/api/public/v1/creations/${id}${step.keepsTexts ? '/results' : ''}`;
    const event = eventOf('DELETE', path, key, {}, undefined, id);
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      const answer = await send('delete', account, key, event);
      const status = answer?.statusCode ?? 0;
      world.note(`client ${step.name} deletes, try ${attempt}: ${status}`);
      if (status === 204) {
        if (step.keepsTexts) invariants.erasures.onResultsDeleted(id);
        else invariants.erasures.onDeleted(id);
        // A client may repeat the request, also much later.
        if (!dice.chance(`${step.name} deletes again ${attempt}`, 0.2)) return;
      }
      // It has no results, and never will.
      if (step.keepsTexts && detailsOf(answer?.body)?.['status'] === 'failed') return;
      await world.sleep(dice.between(`${step.name} deletes later ${attempt}`, 200, 1_000 * 2 ** attempt));
    }
  }

  async function read(step: Extract<Step, { kind: 'list' | 'balance' | 'quote' | 'models' }>): Promise<void> {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    const paths = {
      list: '/creations',
      balance: '/balance',
      quote: '/images/quote',
      models: '/models',
    } as const;
    const body =
      step.kind === 'quote' ? JSON.stringify({ model: 'sandbox-standard', prompt: promptMark }) : undefined;
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    await send(
      step.kind,
      account,
      key,
      eventOf(body === undefined ? 'GET' : 'POST', `/api/public/v1${paths[step.kind]}`, key, headers, body),
    );
  }

  async function pollForeign(step: Step): Promise<void> {
    const account = accountOf(step);
    const foreign = seen.find((one) => one.account !== account.id);
    const [key] = account.keys;
    if (!foreign || !key) return;
    const asked = invariants.ask(account.id);
    const answer = await service.request('get', pollOf(foreign.id, key)).catch(() => undefined);
    if (answer?.statusCode === 200)
      invariants.onAnswer(
        { ...asked, account: account.id, operation: 'get', mayBeRefused: true, mustBeRefused: false },
        answer,
      );
  }

  async function sendUnknownKey(step: Step): Promise<void> {
    const keyId = 'Abcdef' as KeyId;
    const text = createKey(accountOf(step).id, keyId, world.randomBytes);
    const key = freshKey(keyId, text);
    const event = pollOf('019aa5a0-1000-7000-8000-00000000000a', key);
    // Each stranger has an address of its own: the service blocks such an address, and must not block the
    // clients.
    event.requestContext.http.sourceIp = `198.51.100.${dice.between(`stranger ${step.at}`, 1, 250)}`;
    await service.request('get', event).catch(() => undefined);
  }

  return {
    submit,
    upload: uploads.upload,
    followEvents: createEventSteps(stage, send),
    /** Sends a request that only reads. */
    read,
    /** Asks for a creation of another account. */
    pollForeign,
    /** Sends a request with a key that does not exist. */
    sendUnknownKey,
    /** Sends a request with a key, so that an invariant sees whether the service refuses it. */
    tryKey: async (account: AccountHeld, key: KeyHeld) => {
      await send('balance', account, key, eventOf('GET', '/api/public/v1/balance', key, {}));
    },
  };
}

export type ApiSteps = ReturnType<typeof createApiSteps>;

function pollOf(id: string, key: KeyHeld): APIGatewayProxyEventV2 {
  return eventOf('GET', `/api/public/v1/creations/${id}`, key, {}, undefined, id);
}

/** Sends one request. Undefined when its answer did not reach the client. */
type SendRequest = (
  operation: Operation,
  account: AccountHeld,
  key: KeyHeld,
  event: APIGatewayProxyEventV2,
) => Promise<APIGatewayProxyStructuredResultV2 | undefined>;

/** Reads until the step has its answers, or the client has asked three times as often. */
function createEventSteps({ world, invariants, accountOf }: Stage, send: SendRequest) {
  return async (step: FollowEvents): Promise<void> => {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    let after: string | undefined;
    for (let asked = 0, answered = 0; answered < step.reads && asked < 3 * step.reads; asked += 1) {
      const name = `${step.name} read ${asked}`;
      const askedAt = world.time.now();
      const answer = await send('events', account, key, readOf(step, after, key));
      world.note(`client ${name}: ${answer?.statusCode ?? 0}`);
      if (answer?.statusCode === 200) {
        answered += 1;
        // A client that lost its last cursor asks with the one before. It is a reader of its own then.
        const isAgain = after !== undefined && world.dice.chance(`${name} again`, 0.2);
        const read = { account: account.id, after, askedAt, notices: step.notices };
        const body = bodyOf(answer.body);
        if (isAgain) invariants.events.onRepeated({ ...read, reader: step.name, body });
        else after = invariants.events.onRead({ ...read, reader: step.name, body });
      } else if (answer?.statusCode === 400) invariants.events.onRefused(after ?? '', answer.body ?? '');
      const pause = world.sleep(world.dice.between(`${name} pause`, 100, step.pauseMillis));
      if (!step.isNotified) await pause;
      else {
        await Promise.race([pause, invariants.events.next(account.id)]);
        await world.sleep(world.dice.between(`${name} is told`, 0, 40));
      }
    }
  };
}

function readOf(
  { limit, wait, notices }: FollowEvents,
  after: string | undefined,
  key: KeyHeld,
): APIGatewayProxyEventV2 {
  const event = eventOf('GET', '/api/public/v1/events', key, {});
  event.queryStringParameters = {
    limit: String(limit),
    wait: String(wait),
    ...(after !== undefined && { after }),
    ...(notices && { include: 'notices' }),
  };
  return event;
}

type UploadStep = Extract<Step, { kind: 'upload' }>;

/** The id that a client sends when its upload was never created. */
const noUpload = 'upload:019aa5a0-1000-7000-8000-00000000000b';

function createUploadSteps({ world, service, accountOf }: Stage, send: SendRequest) {
  const addresses = new Map<string, string>();
  const picture = pictures['png'] ?? Buffer.alloc(0);

  function announcement(key: KeyHeld): ReturnType<typeof eventOf> {
    const body = JSON.stringify({ content_type: 'image/png', bytes: picture.length });
    return eventOf('POST', '/api/public/v1/uploads', key, { 'content-type': 'application/json' }, body);
  }

  return {
    upload: async (step: UploadStep) => {
      const account = accountOf(step);
      const key = keyAt(account, step.key);
      const answer = await send('upload', account, key, announcement(key));
      world.note(`client ${step.name}: ${answer?.statusCode ?? 0}`);
      if (answer?.statusCode !== 201) return;
      const { image_url, upload_url, upload_headers } = JSON.parse(answer.body ?? '{}') as {
        image_url: string;
        upload_url: string;
        upload_headers: Record<string, string>;
      };
      addresses.set(step.name, image_url);
      if (step.fill === 'never') return;
      await world.sleep(world.dice.between(`${step.name} put`, 20, 400));
      const bytes = step.fill === 'right' ? picture : picture.subarray(1);
      const headers = { ...upload_headers, 'content-length': String(bytes.length) };
      world.note(`client ${step.name} puts: ${service.bucket.receive(upload_url, headers, bytes)}`);
    },
    /** The items of image_urls, with the ids of uploads instead of the names of steps. */
    named: (images: readonly string[]): string[] =>
      images.map((image) =>
        image.startsWith('upload:') ? (addresses.get(image.slice('upload:'.length)) ?? noUpload) : image,
      ),
  };
}
