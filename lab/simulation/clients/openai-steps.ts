/** Performs the calls of programs that use an openai library. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { OpenaiAnswer } from '../aws/portal-and-openai.ts';
import { keyAt, type KeyHeld, promptMark } from './open-accounts.ts';
import type { OpenaiCalls, TryFate } from './scenario.ts';
import type { Stage } from './stage.ts';

/** How often a library repeats a call. */
const mostRetries = 2;
/** How long a library waits for an answer, which it sends in a header. */
const timeoutSeconds = 600;

/** The answer to a try. Undefined: the connection broke. */
type TryAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>> } | undefined;

function isRepeated(answer: TryAnswer): boolean {
  if (!answer) return true;
  const advice = answer.headers['x-should-retry'];
  if (advice === 'true' || advice === 'false') return advice === 'true';
  return [408, 409, 429].includes(answer.status) || answer.status >= 500;
}

/** The pause before the retry with this number, in milliseconds. */
function pauseMillis(answer: TryAnswer, retry: number, jitter: number): number {
  const wanted = Number(answer?.headers['retry-after'] ?? Number.NaN) * 1_000;
  if (wanted >= 0 && wanted < 60_000) return wanted;
  return Math.min(500 * 2 ** (retry - 1), 8_000) * (1 - jitter * 0.25);
}

const retryHeader = 'X-Stainless-Retry-Count';

/** The headers that a library sends with the try of this number. */
function libraryHeaders(retry: number): Readonly<Record<string, string>> {
  return {
    [retryHeader]: String(retry),
    'X-Stainless-Timeout': String(timeoutSeconds),
    'Content-Type': 'application/json',
  };
}

const path = '/openai/v1/images/generations';
const fates = ['lost', 'late', 'cut', 'cut', 'unheard'] as const;

/** The step ends when none of its requests is under way any more, whatever answers the clients have. */
export function createOpenaiSteps({ world, service, invariants, accountOf }: Stage) {
  const { dice } = world;

  async function perform(step: OpenaiCalls): Promise<void> {
    const strays: Promise<unknown>[] = [];
    await Promise.all(
      Array.from({ length: step.calls }, async (_, index) => {
        await world.sleep(index * step.apart);
        await call(step, `${step.name} call ${index}`, strays);
      }),
    );
    await Promise.all(strays);
  }

  const jitterOf = (name: string): number => dice.unit(`${name} pause`);

  async function call(step: OpenaiCalls, name: string, strays: Promise<unknown>[]): Promise<void> {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    const asked = invariants.retries.onCall(account.id, step);
    for (let attempt = 0; attempt <= mostRetries; attempt += 1) {
      const answer = await send(step, `${name} try ${attempt}`, eventOf(step, key, attempt), strays);
      world.note(`${name} try ${attempt}: ${answer?.status ?? 'broken'}`);
      if (answer) invariants.retries.onAnswer(asked, attempt, answer);
      if (answer && answer.status < 300) return;
      if (attempt === mostRetries || !isRepeated(answer)) return;
      invariants.retries.onRetry(asked);
      await world.sleep(pauseMillis(answer, attempt + 1, jitterOf(`${name} try ${attempt}`)));
    }
  }

  /** Undefined: the client sees that its connection broke. */
  async function send(
    { trouble }: OpenaiCalls,
    name: string,
    event: APIGatewayProxyEvent,
    strays: Promise<unknown>[],
  ): Promise<OpenaiAnswer | undefined> {
    const retry = Number(event.headers[retryHeader]) + 1;
    const fate: TryFate =
      !world.isCalm() && dice.chance(`${name} in trouble`, trouble)
        ? dice.pick(`${name} fate`, fates)
        : 'whole';
    if (fate !== 'whole') world.noteIncident(`connection of a library ${fate}`);
    const request = (): Promise<OpenaiAnswer | undefined> => service.openai(event).catch(() => undefined);
    const stray = (work: Promise<OpenaiAnswer | undefined>): Promise<OpenaiAnswer | undefined> => {
      strays.push(work);
      return work;
    };
    const brokenAfter = dice.between(
      `${name} breaks`,
      5,
      dice.pick(`${name} breaks within`, [40, 400, 4_000, 20_000]),
    );
    const breaks = async (): Promise<undefined> => {
      await world.sleep(brokenAfter);
    };
    // Some late requests arrive together with their own retry.
    const arrivesAfter = dice.chance(`${name} meets its retry`, 0.6)
      ? brokenAfter + pauseMillis(undefined, retry, jitterOf(name)) + dice.between(`${name} meets`, -15, 25)
      : dice.between(`${name} arrives`, 5, 30_000);
    switch (fate) {
      case 'whole':
        return stray(request());
      case 'unheard':
        await stray(request());
        return undefined;
      case 'lost':
        return breaks();
      case 'cut':
        void stray(request());
        return breaks();
      case 'late':
        void stray(world.sleep(arrivesAfter).then(request));
        return breaks();
    }
  }

  return { perform };
}

/** As a REST API passes the request of a library on. */
function eventOf(step: OpenaiCalls, key: KeyHeld, attempt: number): APIGatewayProxyEvent {
  const { name, count, model, directives, form, user } = step;
  const body = {
    model,
    prompt: `${promptMark} ${name} ${directives}`,
    n: count,
    metadata: { calls: name, pictures: String(count) },
    ...(form === 'stream' ? { stream: true } : { response_format: form }),
    ...(user !== undefined && { user }),
  };
  return {
    httpMethod: 'POST',
    path,
    resource: '/v1/images/generations',
    headers: { Authorization: `Bearer ${key.text}`, ...libraryHeaders(attempt) },
    queryStringParameters: null,
    pathParameters: null,
    body: JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { path, identity: { sourceIp: '203.0.113.8' }, requestId: '' },
  } as unknown as APIGatewayProxyEvent;
}
