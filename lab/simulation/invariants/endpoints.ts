/**
 * The invariants of endpoints: each one that is enabled and asks gets each event of its own account, and none that is
 * off or of another account does. An endpoint is switched off only after five days of nothing but failures.
 */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { type Endpoint, failingMillis, flagsOf } from '../../../service/webhooks/endpoint.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import type { Post } from '../network/outbound.ts';
import type { World } from '../world/simulated-world.ts';
import { mailPrefix } from './mails.ts';
import { type Accuse, textOf } from './money-books.ts';

/** A POST of a webhook, as its receiver got it. */
export interface Sent extends Post {
  readonly round: number;
  readonly attempt: number;
  /** The endpoint. '': the address of the request, or that for notices. */
  readonly target: string;
}

/** An endpoint as it was for some time. */
interface Version {
  readonly endpoint: Endpoint;
  readonly from: number;
  until: number;
}

interface Known {
  readonly account: string;
  readonly versions: Version[];
}

/** The id of the account's address for notices in the record of a notice. */
const noticeAddress = 'address';

const plain = (item: Item): Record<string, unknown> => unmarshall(item as Parameters<typeof unmarshall>[0]);

function listIn(item: Item | undefined): readonly Endpoint[] {
  const list = item?.['endpoints'];
  return list ? (plain({ list })['list'] as readonly Endpoint[]) : [];
}

export function createEndpointInvariants(
  world: World,
  table: () => SimulatedTable | undefined,
  accuse: Accuse,
) {
  const known = new Map<string, Known>();
  /** The endpoint that has, or had, an address. */
  const owners = new Map<string, string>();
  const slack = (): number => world.clocks.largestSkew() + 1_000;

  /** The versions that held at some moment of a span. */
  const during = (id: string, from: number, until: number): readonly Version[] =>
    (known.get(id)?.versions ?? []).filter((one) => one.from <= until && one.until >= from);
  const asks = ({ endpoint: { enabled, events } }: Version, event: string): boolean =>
    enabled && events.some((one) => one === event);

  function follow({ pk, before, after }: Change): void {
    const account = pk.slice('ACCOUNT#'.length);
    const now = world.time.now();
    const [old, next] = [listIn(before), listIn(after)];
    for (const endpoint of [...old, ...next]) {
      const stored = next.find(({ id }) => id === endpoint.id);
      const entry = known.get(endpoint.id) ?? { account, versions: [] };
      known.set(endpoint.id, entry);
      const last = entry.versions.at(-1);
      if (last && last.until === Infinity) {
        if (JSON.stringify(last.endpoint) === JSON.stringify(stored)) continue;
        last.until = now;
      }
      if (!stored) continue;
      if (before && last) isChangedRightly(last.endpoint, stored);
      entry.versions.push({ endpoint: stored, from: now, until: Infinity });
      owners.set(stored.url, stored.id);
    }
    if (next.length > 10) accuse('an account has at most ten endpoints', `${account}: ${next.length}`);
  }

  /** What the account says of its endpoints is in the commit that changes them. */
  function isNotified(pk: string): void {
    const account = table()?.get(pk, 'ACCOUNT');
    const flags = flagsOf(listIn(table()?.get(pk, 'ENDPOINTS')));
    if (!account || account['erasedAt']) return;
    for (const name of ['creationEndpoints', 'noticeEndpoints'] as const)
      if (flags[name] !== (account[name]?.BOOL === true))
        accuse('an account knows whether it has endpoints', `${pk} ${name}: ${String(flags[name])}`);
  }

  function isChangedRightly(before: Endpoint, after: Endpoint): void {
    const now = world.time.now() + slack();
    const { failingSince = Infinity, toldAt = Infinity } = after;
    if (after.url !== before.url && after.failingSince !== undefined)
      accuse('another address begins a new row of attempts', after.id);
    if (after.toldAt !== undefined && before.toldAt === undefined && now < failingSince + failingMillis.told)
      accuse('an endpoint is told of after four days', `${after.id}: failing since ${failingSince}`);
    if (after.disabledReason === undefined || before.disabledReason !== undefined) return;
    const notice = failingMillis.disabled - failingMillis.told;
    if (now < failingSince + failingMillis.disabled || now < toldAt + notice)
      accuse('an endpoint is switched off after five days', `${after.id}: failing since ${failingSince}`);
  }

  /** The first round names the endpoints that ask for the event, and so all that asked the whole time. */
  function namesWhoAsks({ after, before }: Pick<Change, 'before' | 'after'>): void {
    const [old, next] = [before, after].map((item) => item?.['webhook']?.M?.['endpoints']?.M);
    if (!old || !next || Object.keys(old).length > 0) return;
    if (Object.keys(next).length === 0 && !isSkipped({ before, after })) return;
    const account = textOf(after, 'accountId');
    const event =
      textOf(after, 'type') ||
      (textOf(after, 'status') === 'failed' ? 'creation.failed' : 'creation.completed');
    const [from, until] = [world.current()?.startedAt ?? world.time.now(), world.time.now()];
    for (const name of Object.keys(next)) {
      if (name === noticeAddress || name.startsWith(mailPrefix)) continue;
      if (known.get(name)?.account !== account)
        accuse('an endpoint gets the events of its own account', `${name} ${textOf(after, 'id')}`);
      if (!during(name, from, until).some((one) => asks(one, event)))
        accuse('an endpoint gets what it asks for', `${name}: ${event}`);
    }
    missing(account, event, from, until, Object.keys(next)).forEach((id) => {
      accuse('each endpoint that asks gets each event', `${id}: ${textOf(after, 'id')}`);
    });
  }

  /** A first round that found nobody who asks. An end without announcement, an erasure, and a missing secret differ. */
  function isSkipped({ before, after }: Pick<Change, 'before' | 'after'>): boolean {
    const [old, next] = [before, after].map((item) => item?.['webhook']?.M?.['status']?.S);
    const wasOver = textOf(before, 'type') !== '' || /^(completed|failed)$/.test(textOf(before, 'status'));
    if (old !== 'pending' || next !== 'skipped' || !wasOver || after?.['erasedBy']) return false;
    const secrets = table()?.get(`ACCOUNT#${textOf(after, 'accountId')}`, 'ACCOUNT')?.['webhookSecrets']?.L;
    const since = Number(secrets?.at(-1)?.M?.['issuedAt']?.N ?? Infinity);
    return since < (world.current()?.startedAt ?? world.time.now()) - slack();
  }

  /** The endpoints that asked for the event all the time, and are not among the named ones. */
  function missing(
    account: string,
    event: string,
    from: number,
    until: number,
    named: readonly string[],
  ): readonly string[] {
    return [...known].flatMap(([id, entry]) => {
      const span = during(id, from, until);
      const isWhole = (span[0]?.from ?? Infinity) <= from && (span.at(-1)?.until ?? 0) >= until;
      const isAsking = entry.account === account && isWhole && span.every((one) => asks(one, event));
      return isAsking && !named.includes(id) ? [id] : [];
    });
  }

  /** A creation without an address of its own knows from its charge on that its account has endpoints. */
  function hasItsWebhook({ before, after }: Change): void {
    if (before || !after || after['webhook']) return;
    const from = world.current()?.startedAt ?? world.time.now();
    const ids = ['creation.completed', 'creation.failed'].flatMap((event) =>
      missing(textOf(after, 'accountId'), event, from, world.time.now(), []),
    );
    if (ids.length > 0)
      accuse('each endpoint that asks gets each event', `${ids.join()}: ${textOf(after, 'id')}`);
  }

  /** Nothing but failures: no attempt that the receiver took came after the first of them. */
  function isForgotten(id: string, sent: readonly Sent[]): void {
    const versions = known.get(id)?.versions ?? [];
    const newest = versions.at(-1);
    // An endpoint that is switched on begins a new row of attempts.
    const switchedOn = versions.findLast(
      ({ endpoint: { enabled } }, index) => enabled && versions[index - 1]?.endpoint.enabled === false,
    );
    // Of a deleted endpoint nothing is noted any more.
    const endpoint = newest?.until === Infinity ? newest.endpoint : undefined;
    const own = sent.filter(
      ({ url, at, endedAt }) =>
        url === endpoint?.url && endedAt !== undefined && at >= (switchedOn?.from ?? -Infinity),
    );
    const last = own.at(-1);
    if (!endpoint || !last) return;
    const lately = own.filter(({ at, endedAt }) => Math.max(at, endedAt ?? 0) > last.at - 30_000);
    const outcomes = new Set(lately.map(({ status = 0 }) => status >= 200 && status < 300));
    // Attempts of several events at once may be noted in another order.
    if (outcomes.size !== 1) return;
    if (outcomes.has(true) && endpoint.failingSince !== undefined)
      accuse('a delivery ends the row of failures', id);
    if (outcomes.has(false) && endpoint.failingSince === undefined && endpoint.enabled)
      accuse('a failure begins a row of failures', id);
  }

  return {
    /** The endpoint that has, or had, the address. '': none. */
    at: (url: string): string => owners.get(url) ?? '',
    onCommit: (changes: readonly Change[]) => {
      for (const change of changes) if (change.sk === 'ENDPOINTS') follow(change);
      for (const change of changes) {
        if (change.sk === 'ENDPOINTS') isNotified(change.pk);
        if (change.sk === 'CREATION') hasItsWebhook(change);
        if (change.sk === 'CREATION' || change.sk === 'NOTICE') namesWhoAsks(change);
      }
    },
    /** An attempt to an endpoint, of the account whose event it is. */
    onPost: (post: Sent, id: string, account: string, event: string) => {
      const entry = known.get(post.target);
      if (entry?.account !== account)
        accuse('an endpoint gets the events of its own account', `${post.target}: ${id} of ${account}`);
      const span = during(post.target, post.sender?.startedAt ?? post.at, post.at);
      if (!span.some(({ endpoint: { enabled, url } }) => enabled && url === post.url))
        accuse('an endpoint that is off gets nothing', `${post.target}: attempt ${post.attempt} of ${id}`);
      const message = id.startsWith('ntc_') ? id : `${id}:${event}`;
      if (post.headers['webhook-id'] !== `${message}:${post.target}`)
        accuse('a webhook-id names its message and its endpoint', post.headers['webhook-id'] ?? '');
    },
    /** Whether the endpoint was on, at any of its addresses, from a time on until now. */
    wasOnSince: (id: string, from: number): boolean => {
      const span = during(id, from, Infinity);
      return (
        (span[0]?.from ?? Infinity) <= from &&
        span.every(({ until, endpoint }) => endpoint.enabled && until > from) &&
        span.at(-1)?.until === Infinity
      );
    },
    /** @param sent all attempts, by their endpoints */
    atRest: (sent: ReadonlyMap<string, readonly Sent[]>) => {
      if (world.injected.length > 0 || world.incidents.size > 0) return;
      for (const [id, posts] of sent) isForgotten(id, posts);
    },
  };
}

export type EndpointInvariants = ReturnType<typeof createEndpointInvariants>;
