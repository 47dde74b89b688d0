/**
 * One round of attempts to the endpoints of an account. The record of the creation or the notice holds the
 * schedule of each endpoint, and one conditional write claims every attempt that is due. So a creation with
 * ten endpoints costs as many writes as one with one address. All attempts of a round are sent at once. One
 * more write records how they ended.
 *
 * The first round names the endpoints. A later round sends to the endpoints in the record, at the address
 * that each has now, and to none that was switched off or deleted meanwhile. A person who gets a notice by
 * e-mail has a schedule beside the endpoints, from the subscription's confirmation on and until the person
 * chooses otherwise.
 */
import type { EndpointSchedules, WebhookState } from '../creations/creation.ts';
import { uuidV7 } from '../values/ids.ts';
import { logWith } from '../values/runtime.ts';
import type { Delivery } from './delivery.ts';
import { noteStreaks } from './endpoint-streak.ts';
import { askingFor, type Endpoints } from './endpoint.ts';
import { type Readers, readersOf, sendMail } from './notice-mails.ts';
import type { DeliveryServices } from './open.ts';
import { earlyMillis, headersOf, notDelivered, type Owed } from './owed.ts';
import type { EndedAttempt, RoundClaim } from './round-store.ts';
import { openSecrets, type SigningSecrets } from './secrets.ts';
import { endedDelivery, messageIdOf, waitAfter, webhookAttempts, webhookClaimedMillis } from './webhook.ts';

type Schedule = EndpointSchedules[string];

/** The key of the account's address for notices among the endpoints. */
const noticeAddress = 'address';

/** The receivers of this round. */
interface Targets {
  readonly readers: Readers;
  /** Undefined: the account has no secret. */
  readonly endpoints: Endpoints | undefined;
}

interface Sending extends Pick<Targets, 'readers'> {
  readonly secrets: SigningSecrets | undefined;
  /** The name of the account. */
  readonly account: string;
}

/** Throws WebhookNotDelivered when a further attempt is due later. */
export async function deliverToEndpoints(owed: Owed, services: DeliveryServices): Promise<void> {
  await waitUntilDue(owed.webhook, services);
  const { accountId } = owed;
  const [account, endpoints, readers] = await Promise.all([
    services.deliveries.deliveringAccount(accountId),
    services.endpoints.read(accountId),
    readersOf(owed, services),
  ]);
  const secrets = await openSecrets(accountId, account.secrets, services.secretBox, services.clock.now());
  if (!secrets && readers.length === 0) return services.deliveries.skip(owed.id);
  const named = logWith(services, owed.logIds);
  for (const { issuedAt } of secrets?.lost ?? [])
    named.log.alarm('webhook_secret_lost', { issuedAt: new Date(issuedAt).toISOString() });
  // Without a secret nothing can be signed. E-mails need none.
  const targets = { readers, endpoints: secrets ? endpoints : undefined };
  const claim = await claimOf(owed, targets, services);
  if (!(await services.rounds.claim(claim))) throw notDelivered();
  const ended = await sendAll(owed, claim, { secrets, readers, account: account.name }, named);
  const left = await services.rounds.settle(claim, ended);
  const deliveries = ended.map(({ delivery }) => delivery);
  if (deliveries.length > 0) {
    await noteStreaks(accountId, endpoints, deliveries, named);
    await owed.onEnded?.(
      deliveries.some(({ outcome }) => outcome === 'delivered'),
      account,
    );
  }
  if (left === 'pending') throw notDelivered();
}

/** Waits for an attempt that is due within a moment, and for those that follow it as closely. */
async function waitUntilDue(
  { endpoints = {}, nextAt }: WebhookState,
  { clock }: DeliveryServices,
): Promise<void> {
  const now = clock.now();
  const times = Object.values(endpoints).flatMap((one) => (one.status === 'pending' ? [one.nextAt] : []));
  const soon = (times.length === 0 ? [nextAt] : times).filter((at) => at <= now + earlyMillis);
  if (soon.length === 0) throw notDelivered();
  const early = Math.max(...soon) - now;
  if (early > 0) await clock.sleep(early);
}

/** The record with every attempt that is due, and without the endpoints that get no more. */
async function claimOf(
  owed: Owed,
  targets: Targets,
  { clock, randomBytes }: DeliveryServices,
): Promise<RoundClaim> {
  const { webhook } = owed;
  const nowMillis = clock.now();
  const deliveries: Delivery[] = [];
  const readers = new Set(targets.readers.map(({ place }) => place));
  const claimed = (name: string, schedule: Schedule): Schedule => {
    if (schedule.status !== 'pending' || schedule.nextAt > nowMillis) return schedule;
    // The last attempt began, never ended, and its time is over.
    if (schedule.attempts >= webhookAttempts) return { ...schedule, status: 'failed' };
    const url = addressOf(name, webhook, targets);
    if (url === undefined) return { ...schedule, status: 'skipped' };
    const attempt = schedule.attempts + 1;
    const id = uuidV7(nowMillis, randomBytes(16));
    const startedAt = new Date(nowMillis).toISOString();
    const { accountId, event, ids } = owed;
    const isEndpoint = name !== noticeAddress && !readers.has(name);
    const ofEndpoint = isEndpoint ? { endpointId: name } : {};
    deliveries.push({ id, accountId, ...ids, ...ofEndpoint, event, url, attempt, startedAt });
    const nextAt = nowMillis + webhookClaimedMillis + waitAfter(attempt);
    return { ...schedule, attempts: attempt, nextAt, claimedBy: id };
  };
  const next = Object.fromEntries(
    Object.entries(named(owed, targets, nowMillis)).map(([name, one]) => [name, claimed(name, one)]),
  );
  const body = webhook.body ?? (await owed.bodyAt(nowMillis));
  return { owner: owed.id, known: webhook, next, deliveries, body };
}

/** The endpoints of the record. Before the first round, those that ask for the event now. */
function named(
  { webhook, event }: Owed,
  { endpoints, readers }: Targets,
  nowMillis: number,
): EndpointSchedules {
  const { endpoints: known = {}, url } = webhook;
  if (Object.keys(known).length > 0) return known;
  const signed = endpoints && [
    ...askingFor(event, endpoints).map(({ id }) => id),
    ...(url === '' ? [] : [noticeAddress]),
  ];
  const names = [...(signed ?? []), ...readers.map(({ place }) => place)];
  return Object.fromEntries(
    names.map((name) => [name, { status: 'pending', attempts: 0, nextAt: nowMillis }]),
  );
}

/** Undefined: the endpoint was switched off or deleted, or the person wants this notice no more. */
function addressOf(name: string, { url }: WebhookState, { endpoints, readers }: Targets): string | undefined {
  const reader = readers.find(({ place }) => place === name);
  if (reader || !endpoints) return reader?.shown;
  if (name === noticeAddress) return url;
  const endpoint = endpoints.list.find(({ id }) => id === name);
  return endpoint?.enabled === true ? endpoint.url : undefined;
}

async function sendAll(
  owed: Owed,
  { deliveries, body, next }: RoundClaim,
  { secrets, readers, account }: Sending,
  services: DeliveryServices,
): Promise<readonly EndedAttempt[]> {
  const { clock, outbound, log } = services;
  return Promise.all(
    deliveries.map(async (delivery) => {
      const { id: deliveryId, attempt, endpointId } = delivery;
      const before = clock.elapsed();
      const reader = readers.find(({ place }) => next[place]?.claimedBy === deliveryId);
      const end = async (): Promise<Delivery> => {
        if (reader) return sendMail(delivery, { body, account }, reader, services);
        if (!secrets) throw new Error('an attempt without a secret was claimed');
        const messageId = messageIdOf(owed.messageId, endpointId);
        const headers = headersOf({ ...owed, messageId }, delivery, body, secrets, services);
        return endedDelivery(delivery, await outbound.post(delivery.url, headers, body), headers);
      };
      const sent = await end();
      const millis = Math.round(clock.elapsed() - before);
      const ended = { ...sent, millis };
      const { outcome, status } = ended;
      log.info('webhook_attempted', { deliveryId, endpointId, attempt, outcome, status, millis });
      return { delivery: ended, endedAt: clock.now() };
    }),
  );
}
