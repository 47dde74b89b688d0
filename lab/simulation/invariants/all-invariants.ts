/**
 * Checks everything that must hold in a world: the books, webhooks, logs and answers, and the state at rest. This
 * file has more than 300 lines, because it connects all invariants.
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { isRepainted, isTransparentPng, markOfQuality } from '../network/providers.ts';
import { parseKey } from '../../../service/accounts/api-key.ts';
import type { Payload } from '../../../service/creations/payload.ts';
import type { Service, ServiceObserver } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import { originSecret } from '../aws/portal-and-openai.ts';
import { resultKeyMark } from '../aws/result-keys.ts';
import { addressMark, promptMark } from '../clients/open-accounts.ts';
import {
  acceptedIn,
  type Asked,
  type Before,
  type Body,
  bodyOf,
  detailsOf,
  invocationOf,
  memberOf,
} from '../clients/requests.ts';
import type { Violation } from '../messages.ts';
import type { Post } from '../network/outbound.ts';
import { workOf } from '../runs/payment-schedule.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { createDocumentInvariants, createReadingInvariants } from './answers.ts';
import { atRestStore, auditTable } from './at-rest-audit.ts';
import {
  createCallbackInvariants,
  createCancelInvariants,
  createLeaseInvariants,
  createRecoveryInvariants,
} from './endings.ts';
import { createBackEndInvariants } from './back-ends.ts';
import { createEndpointInvariants, type Sent } from './endpoints.ts';
import { bucketSecret } from '../network/client-buckets.ts';
import { createCopyInvariants } from './copies.ts';
import { createErasureInvariants } from './erasures.ts';
import { createEventInvariants } from './events.ts';
import { createInvocationInvariants } from './invocations.ts';
import { createMailInvariants, mailPrefix } from './mails.ts';
import { createBooks, textOf } from './money-books.ts';
import { createNoticeInvariants } from './notices.ts';
import { changesNothing, kindOf } from './portal-edits.ts';
import { createPaymentInvariants } from './payments.ts';
import { createPortalInvariants } from './portal.ts';
import { createAdmissionInvariants, createHeldInvariants, createRateInvariants } from './rates.ts';
import { createReleaseInvariants, createUploadInvariants } from './releases-and-uploads.ts';
import { createRequestLogInvariants } from './request-log.ts';
import { createRetryInvariants, saysCharged } from './retries.ts';
import { createAddressInvariants } from './result-addresses.ts';
import { createCatalogInvariants, createRouteInvariants } from './routes.ts';
import { createTokenInvariants } from './user-tokens.ts';
import { createWebhookInvariants, recordOf } from './webhooks.ts';

/** Two periods of the reconciler, its grace period, and the time of one of its runs. */
const recoveryMillis = 2 * 60_000 + 10_000 + 10_000;
/** The kinds of rows that a refused request may write. */
const countsOnly = new Set(['RATE', 'REJECTED', 'BLOCK', 'POLL', 'HELD', 'REFUSED']);

export function createInvariants(world: World) {
  const violations: Violation[] = [];
  let isReplay = false;
  const accuse = (invariant: string, detail: string): void => {
    if (isReplay) return;
    violations.push({ invariant, detail });
    world.note(`VIOLATION ${invariant}: ${detail}`);
  };
  const books = createBooks(world, accuse);
  const erasures = createErasureInvariants(world, () => service, accuse);
  const endpoints = createEndpointInvariants(world, () => service?.table, accuse);
  const webhooks = createWebhookInvariants(world, books, erasures, endpoints, accuse);
  const notices = createNoticeInvariants(world, accuse);
  const copies = createCopyInvariants(world, () => service, accuse);
  const mails = createMailInvariants(world, () => service, accuse);
  const catalogs = createCatalogInvariants(world, accuse);
  const admission = createAdmissionInvariants(world, accuse);
  const readings = createReadingInvariants(world, books, accuse);
  const invocations = createInvocationInvariants(world, accuse);
  const rates = createRateInvariants(world, accuse);
  const uploads = createUploadInvariants(world, () => service, accuse);
  const callbacks = createCallbackInvariants(world, () => service?.table, accuse);
  const cancels = createCancelInvariants(() => service, accuse);
  // The event of an erased creation has another payload than its webhook had.
  const bodyOfWebhook = (id: string): string | undefined =>
    erasures.hasNoTexts(id) ? undefined : webhooks.posts.get(id)?.[0]?.body;
  const events = createEventInvariants(world, accuse, bodyOfWebhook, erasures.hasNoResults);
  const portal = createPortalInvariants(world, () => service?.table, webhooks, accuse);
  const held = createHeldInvariants(world, accuse);
  const leases = createLeaseInvariants(world, accuse);
  const routes = createRouteInvariants(world, () => service?.table, accuse);
  const retries = createRetryInvariants(() => service, accuse);
  const releases = createReleaseInvariants(world, () => service, accuse);
  const recoveries = createRecoveryInvariants(world, () => service, accuse);
  const addresses = createAddressInvariants(world, () => service, accuse);
  const documented = createDocumentInvariants(accuse);
  const wroteIn = (id: string): readonly string[] => [...(wrote.get(id) ?? [])];
  const tokens = createTokenInvariants(() => service, wroteIn, accuse);
  const requestLog = createRequestLogInvariants(world, wroteIn, accuse);
  const backEnds = createBackEndInvariants(world, () => service?.table, books, accuse);
  const payments = createPaymentInvariants(world, () => service, wroteIn, accuse);
  const answers = new Map<string, number>();
  const served = new Map<string, Invocation>();
  const askers = new Map<string, string>();
  const wrote = new Map<string, Set<string>>();
  let service: Service | undefined;

  function nothingSecretIsWritten(text: string): void {
    for (const mark of [
      promptMark,
      addressMark,
      'dk_live_',
      'dk_user_',
      'dk_op_',
      'whsec_',
      bucketSecret,
      'encryption-secret',
      '/callbacks/v1/',
      originSecret,
      resultKeyMark,
      ...portal.secrets,
    ]) {
      if (text.includes(mark))
        accuse('nothing secret in logs and histories', `${mark} in ${text.slice(0, 200)}`);
    }
  }

  function comparesWithTheRate(
    account: string,
    operation: Asked['operation'] | 'openai',
    invocation: Invocation,
    answer: APIGatewayProxyStructuredResultV2,
  ): void {
    const limit = service?.table.get(`ACCOUNT#${account}`, 'ACCOUNT')?.['postRate']?.N;
    if (limit !== undefined) rates.onAnswer({ account, operation }, invocation, Number(limit), answer);
  }

  function refusalLeavesNothing(
    { operation }: Asked,
    answer: APIGatewayProxyStructuredResultV2,
    details: Readonly<Record<string, unknown>>,
  ): void {
    const status = answer.statusCode ?? 0;
    const id = invocationOf(answer.headers);
    // A request that is refused for money may send its account a notice, and then find that its rate is used up, or
    // that the table is too busy to count it.
    const reason = String(details['reason']);
    const maySendNotice =
      operation === 'generate' && (status === 402 || /^(account_rate|overloaded)$/.test(reason));
    // The record of a refused upload stays for a day. Nobody knows its id, and it takes no slot. A cancel notes in
    // the creation that it asks the vendor.
    const isHarmless = (kind: string): boolean =>
      countsOnly.has(kind) ||
      (maySendNotice && kind === 'TOLD') ||
      // The second of two first reads writes what is already there, which kindOf() takes for a mark.
      (operation === 'events' && (kind === 'EVENT' || kind === 'TOLD')) ||
      (operation === 'upload' && kind === 'UPLOAD') ||
      // The answer to the write of the slot was lost, and the table stayed busy. The slot is free a day later.
      (operation === 'upload' && status === 503 && kind === 'UNUSED_UPLOADS') ||
      // The second deletion of results is due before the first begins.
      (operation === 'delete' && kind === 'RESULTS') ||
      ((operation === 'cancel' || operation === 'delete') && kind === 'CREATION');
    const left = [...(wrote.get(id) ?? [])].filter((kind) => !isHarmless(kind));
    if (left.length > 0 && !['generate', 'upload', 'cancel', 'delete'].includes(operation))
      accuse('what only looks writes no row but its count', `${operation} ${id} wrote ${left.join(', ')}`);
    if (status < 400 || status === 500 || details['creation_id'] !== undefined) return;
    // The outcome of the cancel's transaction may be unknown.
    if (operation === 'cancel' && status === 503) return;
    if (left.length > 0)
      accuse(
        'a refusal before the charge leaves no row but its count',
        `${id} answered ${status} ${String(details['reason'])} and wrote ${left.join(', ')}`,
      );
  }

  function acceptedIsReadable({ account }: Asked, body: Body): void {
    const ids = acceptedIn(body).map((creation) => memberOf(creation, 'id'));
    for (const id of ids) {
      const item = service?.table.get(`CREATION#${id}`, 'CREATION');
      if (!item) accuse('every 202 is readable', id);
      else if (textOf(item, 'accountId') !== account) accuse('an account sees its own creations only', id);
      else if (body['data'] && books.creations.get(id)?.count !== new Set(ids).size)
        accuse('an answer holds every creation of its request', ids.join(', '));
    }
  }

  function refundIsDone(details: Readonly<Record<string, unknown>>): void {
    const book = books.creations.get(String(details['creation_id']));
    if (book && book.status !== 'failed')
      accuse('what is told as given back is given back', `${book.id} is ${book.status}`);
  }

  function isNotOpenTooLong(): void {
    const behindUntil = service?.releases.lastBehindAt() ?? -Infinity;
    for (const book of books.creations.values()) {
      const latest =
        Math.max(book.deadlineAt, book.chargedAt, world.lastFaultAt, behindUntil) +
        recoveryMillis +
        world.clocks.largestSkew();
      if (book.terminalAt === undefined && world.time.now() > latest)
        accuse('nothing is open behind its deadline and two periods', book.id);
    }
  }

  /** An input of an older release names no renderer, and the largest function renders it. */
  function isRenderedWhereItFits(functionName: string, payload: Payload): void {
    if (!functionName.startsWith('RenderImage')) return;
    const item = service?.table.get(`CREATION#${payload.creation_id}`, 'CREATION');
    const hasSources = (item?.['sources']?.L?.length ?? 0) > 0;
    const ofRecord = textOf(item, 'resolution') === '1K' ? 'RenderImageSmall' : 'RenderImageLarge';
    const fitting = hasSources || payload.renderer === undefined ? 'RenderImage' : ofRecord;
    if (item && functionName !== fitting)
      accuse('a picture is rendered by the function of its kind', `${functionName}, not ${fitting}`);
  }

  /** A creation without room waits. Its deadline refunds it, and never the throttle. */
  function isNotRefundedForRoom(functionName: string, { creation_id, failure }: Payload): void {
    if (functionName === 'RefundCharge' && failure?.Error === 'Lambda.TooManyRequestsException')
      accuse('nothing is refunded because Lambda has no room', creation_id);
  }

  /** Of a creation that has ended, or of a notice. */
  function webhookIsSettled(id: string, account: string, owedAt: number): void {
    const item = service && recordOf(id, service.table);
    const webhook = item?.['webhook']?.M;
    if (!item || !webhook) return;
    const sent = webhooks.posts.get(id) ?? [];
    const schedules = webhook['endpoints']?.M;
    if (!schedules) {
      isSettled(id, webhook, sent, account, owedAt);
      return;
    }
    const status = webhook['status']?.S;
    if (status === 'pending') accuse('each webhook is settled', id);
    // An erasure ends the whole, and leaves the schedules as they are.
    if (erasures.has(id)) return;
    for (const [name, { M: schedule = {} }] of Object.entries(schedules)) {
      if (name.startsWith(mailPrefix)) continue;
      const target = name === 'address' ? '' : name;
      const own = sent.filter((one) => one.target === target);
      const isOff = schedule['status']?.S === 'skipped' && !endpoints.wasOnSince(target, owedAt);
      if (!isOff) isSettled(`${id} ${name}`, schedule, own, account, owedAt);
    }
  }

  function isSettled(
    id: string,
    webhook: Item,
    sent: readonly Sent[],
    account: string,
    owedAt: number,
  ): void {
    const status = webhook['status']?.S;
    const last = sent.at(-1);
    if (status === 'pending') accuse('each webhook is settled', id);
    if (status === 'delivered' && !(last?.status !== undefined && last.status < 300))
      accuse('delivered means answered with a 2xx', id);
    if (status === 'failed' && last?.status !== 410 && webhook['attempts']?.N !== '5')
      accuse('a webhook is tried five times', `${id}: ${webhook['attempts']?.N ?? ''}`);
    if (status === 'failed' && sent.length === 0 && world.injected.length === 0)
      accuse('a webhook is always tried', id);
    const [creation = ''] = id.split(' ');
    const record = service && recordOf(creation, service.table);
    if (
      status === 'skipped' &&
      !erasures.has(creation) &&
      textOf(record, 'failure') !== 'ServiceUnavailable'
    ) {
      if (webhooks.firstSecretAt(account) < owedAt) accuse('a webhook is always tried', `${id} was skipped`);
    }
  }

  const following = [
    books,
    invocations,
    endpoints,
    webhooks,
    notices,
    mails,
    uploads,
    held,
    leases,
    routes,
    cancels,
    retries,
    releases,
    erasures,
    events,
    catalogs,
    admission,
    portal,
    tokens,
    backEnds,
    payments,
    requestLog,
    addresses,
  ];
  world.onEnded = invocations.onEnded;
  return {
    books,
    webhooks,
    cancels,
    erasures,
    events,
    portal,
    retries,
    tokens,
    backEnds,
    violations: violations as readonly Violation[],
    /** How often each operation answered with each status. */
    answers,
    service: {
      onCommit: (changes) => {
        const id = world.current()?.id;
        if (id !== undefined) {
          const kinds = wrote.get(id) ?? new Set<string>();
          for (const change of changes) if (!changesNothing(change)) kinds.add(kindOf(change));
          wrote.set(id, kinds);
        }
        copies.onCommit(changes);
        // The work of a copy has the form of a notice, but is no notice.
        const others = changes.filter(({ before, after }) => !(after ?? before)?.['copyOf']);
        for (const one of following) one.onCommit(others);
      },
      onBucketCall: copies.onBucketCall,
      onPost: (post: Post) => {
        documented.onPost(post);
        addresses.onPost(post);
        if (service) webhooks.onPost(post, service.table);
        releases.onPost(post);
      },
      onFetch: invocations.onFetch,
      onPostEnded: invocations.onPostEnded,
      onRead: (pk) => {
        held.onRead(pk);
        invocations.onRead(pk);
      },
      onDelivers: mails.onDelivers,
      onPublish: mails.onPublish,
      onPublished: mails.onPublished,
      onSent: (invocation, event) => {
        if (invocation.name.startsWith('portal-')) {
          mails.onSent(invocation, event);
          const { account } = portal.onSent(invocation, event);
          rates.onSent(invocation, account);
          return;
        }
        if (invocation.name === 'operator-api') {
          backEnds.onSent(invocation, event);
          return;
        }
        const { headers } = event;
        uploads.onSent(invocation, event);
        documented.onSent(invocation, event);
        const account = parseKey((headers['authorization'] ?? '').replace('Bearer ', ''))?.accountId;
        served.set(invocation.id, invocation);
        if (account !== undefined) rates.onSent(invocation, account);
      },
      onServed: (invocation, answer) => {
        const name = `${invocation.name} ${answer.statusCode ?? 0}`;
        answers.set(name, (answers.get(name) ?? 0) + 1);
        // The invariants of answers find by it what the request wrote.
        const named = invocationOf(answer.headers);
        if (named !== '' && named !== invocation.id) accuse('an answer names its request', named);
        rates.onServed(invocation);
        invocations.onServed(invocation, answer);
        mails.onServed(invocation, answer);
        const asked = portal.onServed(invocation, answer);
        if (!/^(portal|operator)-/.test(invocation.name))
          requestLog.onServed(invocation, answer.statusCode ?? 0, detailsOf(answer.body)?.['reason']);
        if (asked) comparesWithTheRate(asked.account, 'portal-generate', invocation, answer);
        backEnds.onServed(invocation, answer);
        uploads.onServed(invocation, answer);
        payments.onServed(invocation, answer);
        addresses.onServed(answer.body ?? '');
        documented.onServed(invocation, answer);
      },
      onOpenaiSent: (invocation, { headers }) => {
        const account = parseKey((headers['Authorization'] ?? '').replace('Bearer ', ''))?.accountId;
        if (account !== undefined) askers.set(invocation.id, account);
        if (account !== undefined) rates.onSent(invocation, account);
      },
      onOpenaiServed: (invocation, answer) => {
        const { status: statusCode, body } = answer;
        const name = `openai ${statusCode}`;
        answers.set(name, (answers.get(name) ?? 0) + 1);
        rates.onServed(invocation);
        addresses.onServed(body);
        const isStream = !body.startsWith('{');
        const shown = { statusCode, body: isStream ? '{}' : body };
        invocations.onServed(invocation, shown);
        requestLog.onServed(invocation, statusCode, detailsOf(shown.body)?.['reason']);
        const account = askers.get(invocation.id);
        if (account !== undefined) comparesWithTheRate(account, 'openai', invocation, shown);
        const left = [...(wrote.get(invocation.id) ?? [])].filter(
          (kind) => !countsOnly.has(kind) && kind !== 'TOLD' && kind !== 'RETRY',
        );
        if (!saysCharged(answer) && left.length > 0)
          accuse(
            'a refusal before the charge leaves no row but its count',
            `${invocation.id} answered ${statusCode} and wrote ${left.join(', ')}`,
          );
      },
      onTask: (functionName, startedWith, input) => {
        isRenderedWhereItFits(functionName, startedWith);
        isNotRefundedForRoom(functionName, input);
      },
      onRenders: routes.onRenders,
      onAsked: routes.onAsked,
      onProviderAnswer: routes.onProviderAnswer,
      onStart: releases.onStart,
      onRunAgain: callbacks.onRunAgain,
      onDied: recoveries.onDied,
      onSucceeded: recoveries.onSucceeded,
      onNotUnderstood: releases.onNotUnderstood,
      onCallback: callbacks.onCallback,
      onTaskEnded: callbacks.onTaskEnded,
      onSealed: webhooks.learn,
      onText: (text) => {
        nothingSecretIsWritten(text);
        payments.onText(text);
      },
      payments: payments.observer,
    } satisfies ServiceObserver,
    attach: (attached: Service) => void (service = attached),
    /** The table was restored: only these commits count from now on. */
    onRestored: (commits: readonly (readonly Change[])[]): void => {
      isReplay = true;
      const all = [books, payments, backEnds];
      for (const one of all) one.restart();
      for (const changes of commits) for (const one of all) one.onCommit(changes);
      isReplay = false;
    },
    ask: (account: string): Before => ({ at: world.time.now(), ledger: books.ledgerOf(account) }),
    onAnswer: (asked: Asked, answer: APIGatewayProxyStructuredResultV2) => {
      const body = bodyOf(answer.body);
      const details = detailsOf(answer.body) ?? {};
      refusalLeavesNothing(asked, answer, details);
      const invocation = served.get(invocationOf(answer.headers));
      if (invocation) comparesWithTheRate(asked.account, asked.operation, invocation, answer);
      const status = answer.statusCode ?? 0;
      if (status < 300 && (asked.operation === 'generate' || asked.operation === 'get'))
        acceptedIsReadable(asked, body);
      if (status < 300) readings.onAnswer(asked, body, answer.headers ?? {});
      erasures.onAnswer(body, asked.at);
      if (details['creation_id'] !== undefined) refundIsDone(details);
      if ((status === 401 || status === 403) && !asked.mayBeRefused)
        accuse('a valid key is let in', `${status}`);
      if (status < 400 && asked.mustBeRefused)
        accuse(
          'a revocation or suspension holds from the next request on',
          `${asked.operation} answered ${status}`,
        );
      if (status === 404 && asked.operation === 'get') accuse('every 202 is readable', 'a poll answered 404');
    },
    /** Checks in a running world that no creation is open for too long. */
    look: () => {
      isNotOpenTooLong();
      recoveries.look();
      payments.look();
    },
    atRest: async () => {
      isNotOpenTooLong();
      recoveries.look();
      for (const row of service ? workOf(service) : []) accuse('no work is left at rest', textOf(row, 'pk'));
      for (const execution of service?.stepFunctions.running() ?? [])
        accuse('no execution is left at rest', execution.name);
      for (const book of books.creations.values()) {
        if (book.terminalAt === undefined) accuse('every creation ends', book.id);
        const item = service?.table.get(`CREATION#${book.id}`, 'CREATION');
        const image = item?.['results']?.L?.[0]?.M?.['key']?.S;
        if (
          book.status === 'completed' &&
          !erasures.hasNoResults(book.id) &&
          !service?.bucket.stored.has(image ?? '')
        )
          accuse('a completed creation has its image', book.id);
        const background = item?.['background']?.S;
        const picture = service?.bucket.contents.get(image ?? '');
        if (picture && background && isTransparentPng(picture) !== (background === 'transparent'))
          accuse('a picture has the background that was asked for', book.id);
        const quality = item?.['quality']?.S;
        if (picture && quality && !Buffer.from(picture).includes(markOfQuality(quality)))
          accuse('a picture has the quality that was asked for', book.id);
        if (picture && item?.['mask'] && isRepainted(picture))
          accuse('a picture keeps what its mask protects', book.id);
        webhookIsSettled(book.id, book.account, book.terminalAt ?? 0);
      }
      for (const [id, { account, toldAt }] of notices.told) webhookIsSettled(id, account, toldAt);
      copies.atRest(books.creations.keys(), erasures.hasNoResults);
      payments.atRest();
      if (service) notices.atRest(service.table);
      mails.atRest();
      endpoints.atRest(webhooks.ofEndpoints);
      cancels.atRest();
      if (service) erasures.atRest(service);
      if (service) admission.atRest(service.table);
      if (service) await events.atRest(atRestStore(service.table, service.store));
      callbacks.atRest(books.creations.keys(), service?.vendor.jobs() ?? 0);
      if (service)
        for (const difference of await auditTable(service.table, service.store))
          accuse('the audit of the books finds nothing', JSON.stringify(difference));
    },
  };
}

export type Invariants = ReturnType<typeof createInvariants>;
