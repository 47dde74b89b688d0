/** The invariants of webhooks. They are checked at each POST that a receiver gets. */
import { createHmac } from 'node:crypto';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { asBody, bodyOf, memberOf } from '../clients/requests.ts';
import type { Post } from '../network/outbound.ts';
import { withoutAddresses, withoutSignatures } from '../aws/result-keys.ts';
import type { World } from '../world/simulated-world.ts';
import type { EndpointInvariants, Sent } from './endpoints.ts';
import { type Accuse, type Books, textOf } from './money-books.ts';

interface Secret {
  readonly plain: string;
  /** When the secret was committed. */
  readonly from: number;
  /** When the secret begins to sign: at the commit, unless the rotation named a later time. */
  readonly signsFrom: number;
  /** When the next secret begins to sign. */
  until: number;
}

/** The id in the body of a test delivery, which belongs to no creation. */
const nilId = '00000000-0000-0000-0000-000000000000';
const testIntervalMillis = 30_000;
const waitsMillis = [60_000, 120_000, 240_000, 480_000] as const;
const dayMillis = 86_400_000;

/** The item of a creation or of a notice. */
export function recordOf(id: string, table: SimulatedTable): Item | undefined {
  return id.startsWith('ntc_')
    ? table.get(`NOTICE#${id}`, 'NOTICE')
    : table.get(`CREATION#${id}`, 'CREATION');
}

/** The schedule of an endpoint, or of the address for notices beside endpoints, or of the one address. */
function scheduleIn(webhook: Item | undefined, target: string): Item | undefined {
  const endpoints = webhook?.['endpoints']?.M;
  // An erasure ends all of them by the state of the whole.
  if (!endpoints || webhook['status']?.S !== 'pending') return webhook;
  return endpoints[target === '' ? 'address' : target]?.M;
}

interface Erased {
  /** When a creation or a notice was erased. Undefined as long as it is not. */
  readonly erasedAt: (id: string) => number | undefined;
  readonly erasedNotice: (id: string) => Item | undefined;
  readonly hasNoResults: (id: string) => boolean;
}

export function createWebhookInvariants(
  world: World,
  books: Books,
  { erasedAt, erasedNotice, hasNoResults }: Erased,
  endpoints: EndpointInvariants,
  accuse: Accuse,
) {
  const plains = new Map<string, string>();
  const secrets = new Map<string, Secret[]>();
  const posts = new Map<string, Sent[]>();
  const tests = new Map<string, number>();
  const ofEndpoints = new Map<string, Sent[]>();

  function comesBehindTheCommit(post: Sent, id: string, table: SimulatedTable): void {
    const item = table.get(`CREATION#${id}`, 'CREATION');
    const told = bodyOf(post.body);
    const status = memberOf(told, 'status');
    const event = memberOf(told, 'event');
    if (status !== textOf(item, 'status') || (status !== 'completed' && status !== 'failed')) {
      accuse('no webhook before the terminal commit', `${id}: sent ${status}, is ${textOf(item, 'status')}`);
    }
    if (event !== post.headers['x-webhook-event'] || event !== `creation.${status}`)
      accuse('a webhook tells its event', id);
    const cancelledAt = status === 'failed' ? (item?.['cancelledAt']?.S ?? null) : undefined;
    if (told['cancelled_at'] !== cancelledAt) accuse('a webhook tells whether it was cancelled', id);
  }

  function keepsTheSchedule(post: Sent, before: readonly Sent[], id: string): void {
    if (post.attempt > 5) accuse('at most five attempts', `${id}: attempt ${post.attempt}`);
    const last = before.filter(({ round }) => round === post.round).at(-1);
    if (!last) return;
    if (post.attempt <= last.attempt)
      accuse('an attempt is sent once', `${id}: attempt ${post.attempt} behind ${last.attempt}`);
    const waited = post.at - (last.endedAt ?? last.at);
    const least = waitsMillis[last.attempt - 1] ?? Infinity;
    if (waited < least - world.clocks.largestSkew())
      accuse('never early', `${id}: attempt ${post.attempt} after ${waited} ms, not ${least}`);
  }

  /** A notice is stored before it is sent, and cannot be taken for the webhook of a creation. */
  function isStoredNotice(post: Sent, id: string, item: Item | undefined): void {
    const told = memberOf(bodyOf(post.body), 'notice');
    if (told === '' || told !== textOf(item, 'type') || told !== post.headers['x-darkroom-notice'])
      accuse('a notice tells its type', `${id}: ${told}`);
    const isNamed = post.target !== '' || post.headers['webhook-id'] === id;
    if (post.headers['x-webhook-event'] !== undefined || !isNamed) accuse('a notice is no webhook', id);
  }

  function endsWithSuccess(post: Sent, before: readonly Sent[], id: string, table: SimulatedTable): void {
    const webhook = recordOf(id, table)?.['webhook']?.M;
    const status = scheduleIn(webhook, post.target)?.['status']?.S;
    // An attempt that an erasure meets is sent; no other begins.
    const isUnderWay = (erasedAt(id) ?? -Infinity) >= (world.current()?.startedAt ?? post.at);
    if (status !== 'pending' && !isUnderWay)
      accuse('none behind the end', `${id}: attempt ${post.attempt} while ${status ?? 'absent'}`);
    // After a fault the service may not have been able to store that the receiver answered with a 2xx.
    const known = before.find(
      ({ round, status: answer, sender }) =>
        round === post.round &&
        sender?.faulted === false &&
        answer !== undefined &&
        answer >= 200 &&
        answer < 300,
    );
    if (known) accuse('none after a 2xx', `${id}: attempt ${post.attempt} after ${known.attempt}`);
  }

  function verifies(post: Post, account: string): void {
    const startedAt = world.current()?.startedAt ?? post.at;
    const slack = world.clocks.largestSkew() + 1_000;
    const all = secrets.get(account) ?? [];
    const stamp = post.headers['x-timestamp'] ?? '';
    if (Math.abs(Number(stamp) * 1000 - post.at) > slack + 1_000)
      accuse('signed at its own time', `${stamp} at ${post.at}`);
    const made = (secret: Secret | undefined): string =>
      secret === undefined
        ? ''
        : `sha256=${createHmac('sha256', secret.plain).update(`${stamp}.${post.body}`).digest('hex')}`;
    // The product compares a named time with the function's own clock, which may be wrong.
    const current = all.filter(
      ({ from, signsFrom, until }) =>
        from <= post.at &&
        signsFrom <= post.at + (signsFrom > from ? slack : 0) &&
        until >= startedAt - slack,
    );
    const signing = current.findLast((secret) => made(secret) === post.headers['x-webhook-signature-256']);
    if (
      !signing ||
      (signing.until < startedAt &&
        !all.some(({ signsFrom, from }) => signsFrom === signing.until && signsFrom > from))
    ) {
      accuse('signed with the current secret', account);
    }
    previousVerifies(all, signing, made, post, { startedAt, slack, account });
    const given = (post.headers['webhook-signature'] ?? '').split(' ');
    const signatures = new Map<string, string>();
    const standard = ({ plain }: Secret): string => {
      const known = signatures.get(plain);
      if (known !== undefined) return known;
      const key = Buffer.from(plain.slice('whsec_'.length), 'base64');
      const signature = `v1,${createHmac('sha256', key)
        .update(`${post.headers['webhook-id'] ?? ''}.${stamp}.${post.body}`)
        .digest('base64')}`;
      signatures.set(plain, signature);
      return signature;
    };
    const mayHold = all.filter(({ from, until }) => from <= post.at && until + dayMillis + slack > startedAt);
    const mustHold = all.filter(
      ({ from, until }) => from <= startedAt && until + dayMillis - slack > post.at,
    );
    if (!given.every((one) => mayHold.some((secret) => standard(secret) === one)))
      accuse('no signature with a secret that is over', account);
    if (!mustHold.every((secret) => given.includes(standard(secret))))
      accuse('a receiver with a replaced secret verifies for 24 h', account);
  }

  /** Checks the second signature, made with the previous secret for receivers that know only that secret. */
  function previousVerifies(
    all: readonly Secret[],
    signing: Secret | undefined,
    made: (secret: Secret | undefined) => string,
    post: Post,
    { startedAt, slack, account }: { startedAt: number; slack: number; account: string },
  ): void {
    const before = all
      .slice(0, signing ? all.indexOf(signing) : 0)
      .filter(({ signsFrom, until }) => signsFrom < until);
    const last = before.at(-1);
    const given = post.headers['x-webhook-signature-256-previous'];
    if (given !== undefined && given !== made(last))
      accuse('the previous signature is made with the newest replaced secret', account);
    if (given !== undefined && (last?.until ?? -Infinity) + dayMillis + slack <= startedAt)
      accuse('no signature with a secret that is over', account);
    if (given === undefined && last && last.until + dayMillis - slack > post.at)
      accuse('a receiver with a replaced secret verifies for 24 h', account);
  }

  /** Checks that the operator's command lets through only one test delivery in each interval. */
  function onTest(post: Post): void {
    const account = new URL(post.url).searchParams.get('account') ?? '';
    const last = tests.get(account) ?? -Infinity;
    // A slow network may delay one of the two POSTs after the command has let both through.
    const slack = world.clocks.largestSkew() + 1_000;
    if (!post.sender?.faulted && post.at - last < testIntervalMillis - slack)
      accuse('one test delivery in 30 s', `${account}: after ${post.at - last} ms`);
    if (!post.sender?.faulted) tests.set(account, post.at);
    const { cost, metadata } = bodyOf(post.body);
    if (cost !== 0 || asBody(metadata)?.['test'] !== 'true')
      accuse('a test delivery says that it is one', post.body);
    verifies(post, account);
  }

  return {
    posts,
    /** All attempts to endpoints, by their ids. */
    ofEndpoints,
    /** Receives the plain text of a sealed secret. */
    learn: (sealed: string, plain: string) => void plains.set(sealed, plain),
    /** Whether the account has, or had, this secret. */
    verifies: (account: string, plain: string): boolean =>
      (secrets.get(account) ?? []).some((secret) => secret.plain === plain),
    /** When the account got its first secret; Infinity while it has none. */
    firstSecretAt: (account: string): number => secrets.get(account)?.[0]?.from ?? Infinity,
    onCommit: (changes: readonly Change[]) => {
      for (const { sk, pk, after } of changes) {
        if (sk !== 'ACCOUNT') continue;
        const newest = after?.['webhookSecrets']?.L?.[0]?.M;
        const plain = plains.get(newest?.['sealed']?.S ?? '');
        const list = secrets.get(pk.slice('ACCOUNT#'.length)) ?? [];
        if (plain === undefined || list.at(-1)?.plain === plain) continue;
        const from = world.time.now();
        const signsFrom = Math.max(from, Number(newest?.['signsFrom']?.N ?? from));
        for (const secret of list) secret.until = Math.min(secret.until, signsFrom);
        secrets.set(pk.slice('ACCOUNT#'.length), [...list, { plain, from, signsFrom, until: Infinity }]);
      }
    },
    onPost: (post: Post, table: SimulatedTable) => {
      const id = memberOf(bodyOf(post.body), 'id');
      if (id === nilId) {
        onTest(post);
        return;
      }
      const book = books.creations.get(id);
      const notice = id.startsWith('ntc_') ? (recordOf(id, table) ?? erasedNotice(id)) : undefined;
      const all = posts.get(id) ?? [];
      const target = endpoints.at(post.url);
      const before = all.filter((one) => one.target === target);
      const sent = Object.assign(post, {
        round: book?.round ?? 0,
        attempt: Number(post.headers['x-webhook-attempt']),
        target,
      });
      const owner = book?.account ?? textOf(notice, 'accountId');
      if (target !== '') endpoints.onPost(sent, id, owner, post.headers['x-webhook-event'] ?? '');
      // Another round signs the addresses of results anew, or leaves them out.
      const told = hasNoResults(id) ? withoutAddresses : withoutSignatures;
      const sameRound = all.find(({ round }) => round === sent.round);
      const first = all[0] ?? sent;
      if ((sameRound ?? sent).body !== sent.body || told(first.body) !== told(sent.body))
        accuse('the same bytes in each attempt', id);
      if (id.startsWith('ntc_')) isStoredNotice(sent, id, notice);
      else comesBehindTheCommit(sent, id, table);
      keepsTheSchedule(sent, before, id);
      endsWithSuccess(sent, before, id, table);
      verifies(sent, owner);
      posts.set(id, [...all, sent]);
      if (target !== '') ofEndpoints.set(target, [...(ofEndpoints.get(target) ?? []), sent]);
    },
  };
}

export type WebhookInvariants = ReturnType<typeof createWebhookInvariants>;
