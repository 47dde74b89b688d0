/** The log of events, which lists show for 30 days, and the deliveries to the webhook's endpoint. */
import { createHmac } from 'node:crypto';
import type { Interference, Spoiling, StripeAccount, Work } from './account.ts';
import { type StripeEvent, type StripeObject, stripeVersion } from './objects.ts';

const loggedSeconds = 30 * 86_400;

/** Seconds before each repetition. Stripe repeats for three days, in a sandbox three times in some hours. */
const repeatsAfter = {
  live: [300, 1_800, 7_200, 18_000, 36_000, 43_200, 43_200, 43_200, 43_200],
  test: [300, 3_600, 10_800],
} as const;

type Delivery = Extract<Work, { readonly kind: 'deliver' }>;

/** Logs an event about the object as it is now, and plans its delivery. */
export function tell(account: StripeAccount, type: string, object: StripeObject): void {
  const { state } = account;
  const live = account.isLive(object.id);
  const event: StripeEvent = {
    ...account.birth('evt', live),
    object: 'event',
    api_version: stripeVersion,
    data: { object: structuredClone(object) },
    pending_webhooks: endpointOf(account, live) ? 1 : 0,
    request: account.cause ?? { id: null, idempotency_key: null },
    type,
  };
  state.events = [...loggedEvents(account), event];
  plan(account, event);
}

/** The events of the last 30 days, the oldest first. */
export function loggedEvents({ state, seconds }: StripeAccount): StripeEvent[] {
  const oldest = seconds() - loggedSeconds;
  return state.events.filter(({ created }) => created >= oldest);
}

function endpointOf({ state }: StripeAccount, live: boolean) {
  return state.endpoints[live ? 'live' : 'test'];
}

function plan(account: StripeAccount, event: StripeEvent): void {
  if (!endpointOf(account, event.livemode)) return;
  const delivery: Delivery = { kind: 'deliver', event, tries: 0 };
  const how = interferenceWith(account.state.interferences, event.type);
  switch (how) {
    case 'drop':
      return;
    case 'hold':
      account.state.held.push(delivery);
      return;
    case 'reverse':
      account.state.held.unshift(delivery);
      return;
    case 'double':
      account.later(0, delivery);
      account.later(0, delivery);
      return;
    case undefined:
      account.later(0, delivery);
      return;
    default:
      account.later(0, { ...delivery, spoiling: how });
  }
}

function interferenceWith(all: readonly Interference[], type: string): Interference['how'] | undefined {
  const found = all.find((one) => type.startsWith(one.type) && one.left !== 0);
  if (found?.left) found.left -= 1;
  return found?.how;
}

/** Sends what was held back, in the order in which it lies there. Gives the number. */
export function release({ state, later }: StripeAccount): number {
  const { held } = state;
  state.held = [];
  for (const delivery of held) later(0, delivery);
  return held.length;
}

/** Sends an event once more, however often it was sent before. */
export function repeat(account: StripeAccount, event: StripeEvent): void {
  account.later(0, { kind: 'deliver', event, tries: 0 });
}

/** Sends an event, and plans the next try when nobody took it. */
export async function deliver(account: StripeAccount, delivery: Delivery): Promise<void> {
  const { event, tries, spoiling } = delivery;
  const endpoint = endpointOf(account, event.livemode);
  if (!endpoint) return;
  const body = JSON.stringify(event, null, 2);
  const signature = signatureOf(body, endpoint.secrets, account.seconds(), spoiling);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
    ...(signature !== undefined && { 'stripe-signature': signature }),
  };
  const status = await account.world.send(endpoint.url, headers, spoiling === 'alter' ? altered(body) : body);
  const wait = repeatsAfter[event.livemode ? 'live' : 'test'][tries];
  if (status >= 200 && status < 300) return;
  if (wait !== undefined) account.later(wait, { ...delivery, tries: tries + 1 });
}

/** The id of the event changes after the signature was made. */
function altered(body: string): string {
  return body.replace('"evt_', '"evt_x');
}

/** The stale signature of a spoilt delivery is older than the 300 s that receivers allow. */
const staleSeconds = 600;

/** @returns the header `Stripe-Signature`: `t=…,v1=…`, with one v1 for each secret */
function signatureOf(
  body: string,
  secrets: readonly string[],
  now: number,
  spoiling: Spoiling | undefined,
): string | undefined {
  if (spoiling === 'unsigned') return undefined;
  const time = spoiling === 'stale' ? now - staleSeconds : now;
  const scheme = spoiling === 'v0' ? 'v0' : 'v1';
  const signatures = secrets.map(
    (secret) => `${scheme}=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
  );
  return [`t=${time}`, ...signatures].join(',');
}
