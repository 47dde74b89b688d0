/**
 * The invariant of the POST rate: in each minute the service accepts exactly as many POSTs as the account's
 * rate allows.
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { openCountKeys } from '../../../service/aws/dynamodb/table.ts';
import { defaultServiceCapacity, mostHeldReads } from '../../../service/contract/limits.ts';
import { type CreationStatus, isTerminal } from '../../../service/creations/creation.ts';
import { heldSlotsOf } from '../aws/deployed-service.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { type Asked, detailsOf } from '../clients/requests.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

/** How a POST counts for the rate. */
type Verdict = 'counted' | 'refused' | 'not counted';

interface Minute {
  /** The invocations that got a request in this minute. A fault may strike one before it answers. */
  readonly invocations: Invocation[];
  sent: number;
  counted: number;
  /**
   * Set after a fault, or when a request runs across the turn of the minute. Then the minute cannot be counted
   * exactly.
   */
  isBlurred: boolean;
}

const posts = new Set([
  'generate',
  'openai',
  'quote',
  'upload',
  'cancel',
  'delete',
  'portal-generate',
  'user-tokens',
  'webhook-endpoints',
]);
const minuteMillis = 60_000;
/** A request so close to the turn of a minute may count for the other minute. */
const marginMillis = 3_000;

function verdictOf({ statusCode = 0, body }: APIGatewayProxyStructuredResultV2): Verdict {
  const reason = detailsOf(body)?.['reason'];
  if (reason === 'account_rate') return 'refused';
  if (
    statusCode === 401 ||
    statusCode === 403 ||
    reason === 'burst_block' ||
    reason === 'overloaded' ||
    statusCode >= 500
  )
    return 'not counted';
  return 'counted';
}

export function createRateInvariants(world: World, accuse: Accuse) {
  const minutes = new Map<string, Minute>();
  /** The account whose request an invocation serves. */
  const accounts = new Map<string, string>();
  const minuteOf = (account: string, at: number): Minute => {
    const name = `${account} ${Math.floor(at / minuteMillis)}`;
    const known = minutes.get(name) ?? { invocations: [], sent: 0, counted: 0, isBlurred: false };
    minutes.set(name, known);
    return known;
  };

  return {
    /** Called when a function got a request. */
    onSent: (invocation: Invocation, account: string) => {
      if (!posts.has(invocation.name)) return;
      accounts.set(invocation.id, account);
      const minute = minuteOf(account, invocation.startedAt);
      minute.sent += 1;
      minute.invocations.push(invocation);
      const next = minuteOf(account, invocation.startedAt + marginMillis);
      // A request shortly before the turn may count for the next minute.
      if (next !== minute) next.isBlurred = true;
      if (next !== minute) minute.isBlurred = true;
    },
    /** Called when a function answered. The answer may be lost on its way to the client. */
    onServed: (invocation: Invocation) => {
      const account = accounts.get(invocation.id);
      // When the counter's answer is lost, the counter counts again. A request without an answer counts as
      // well.
      if (account !== undefined && invocation.faults.length > 0)
        minuteOf(account, invocation.startedAt).isBlurred = true;
    },
    onAnswer: (
      { account, operation }: { readonly account: string; readonly operation: Asked['operation'] | 'openai' },
      invocation: Invocation,
      limit: number,
      answer: APIGatewayProxyStructuredResultV2,
    ) => {
      if (!posts.has(operation)) return;
      const minute = minuteOf(account, invocation.startedAt);
      const end = minuteOf(account, world.time.now() + marginMillis);
      if (invocation.faults.length > 0 || end !== minute || world.clocks.largestSkew() > 0) {
        minute.isBlurred = true;
        end.isBlurred = true;
      }
      const verdict = verdictOf(answer);
      if (verdict === 'counted') minute.counted += 1;
      if (minute.isBlurred || minute.invocations.some(({ faults }) => faults.length > 0)) return;
      if (minute.counted > limit)
        accuse(
          'a minute lets through no more POSTs than its rate',
          `${account}: ${minute.counted} of ${limit}`,
        );
      if (verdict === 'refused' && minute.sent <= limit)
        accuse('a POST is counted once', `${account}: refused at ${minute.sent} of ${limit}`);
    },
  };
}

/** A request without a slot reads a few times at most, however often the tries of a call overtake each other. */
const mostReads = 20;
const held = new Set(['openai', 'generate']);
const slotsOf = (item: Item | undefined): string[] =>
  Object.keys(item ?? {}).filter((name) => /^p\d+$/.test(name));

export function createHeldInvariants(world: World, accuse: Accuse) {
  const holders = new Set<string>();
  const reads = new Map<string, number>();
  const slots = heldSlotsOf(world.dice);

  /** Only an expired slot is given to another request. */
  function wasExpired({ before, after }: Change): void {
    for (const name of slotsOf(after)) {
      const [old, next] = [before?.[name]?.M, after?.[name]?.M];
      if (!old || old['holder']?.S === next?.['holder']?.S) continue;
      const left = Number(old['until']?.N) - world.time.now();
      if (left > world.clocks.largestSkew()) accuse('a place holds one request', `${name}: ${left} ms left`);
    }
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      const writer = world.current()?.id;
      for (const change of changes) {
        const { sk, pk, before, after } = change;
        if (!sk.startsWith('HELD#')) continue;
        wasExpired(change);
        const limit = sk === 'HELD#events' ? mostHeldReads : slots;
        const taken = slotsOf(after).length;
        if (taken > limit) accuse('an account has its share of the places', `${pk} ${sk}: ${taken}`);
        if (writer !== undefined && taken >= slotsOf(before).length) holders.add(writer);
      }
    },
    /** Receives each read of a creation, by the key of its item. */
    onRead: (pk: string) => {
      const { id = '', name = '' } = world.current() ?? {};
      if (!held.has(name) || holders.has(id)) return;
      const count = (reads.get(`${id} ${pk}`) ?? 0) + 1;
      reads.set(`${id} ${pk}`, count);
      if (count === mostReads) accuse('a request without a place is answered at once', `${id} ${pk}`);
    },
  };
}

/** The part of the capacity by which the open creations may differ from it. */
const tolerance = 0.1;

export function createAdmissionInvariants(world: World, accuse: Accuse) {
  const capacity = defaultServiceCapacity;
  const open = new Set<string>();
  let closedAt: number | undefined;

  function switched({ after }: Change): void {
    const isClosed = after?.['closed'] !== undefined;
    if (!isClosed) closedAt = undefined;
    else closedAt ??= world.time.now();
  }

  function accepted(id: string): void {
    open.add(id);
    if (open.size > capacity * (1 + tolerance))
      accuse('the open creations stay near the capacity', `${open.size} of ${capacity} are open`);
    const startedAt = world.current()?.startedAt;
    if (closedAt !== undefined && startedAt !== undefined && startedAt > closedAt)
      accuse(
        'a closed service charges nothing',
        `${id}, for a request ${startedAt - closedAt} ms after the close`,
      );
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const change of changes) {
        const { before, after, pk, sk } = change;
        if (sk === 'SERVICE' && pk === 'SERVICE') switched(change);
        if (sk !== 'CREATION' || !after) continue;
        if (!before) accepted(pk);
        else if (isTerminal(textOf(after, 'status') as CreationStatus)) open.delete(pk);
      }
    },
    atRest: (table: SimulatedTable) => {
      // A fault may have lost a change, and a function that died could not count its own.
      if (world.injected.length > 0 || world.lastFaultAt > 0) return;
      const counters = openCountKeys.map(({ pk, sk }) => Number(table.get(pk, sk)?.['running']?.N ?? 0));
      const sum = counters.reduce((one, other) => one + other, 0);
      if (sum !== open.size)
        accuse('every end is counted as its start was', `${sum} are counted, and ${open.size} are open`);
    },
  };
}
