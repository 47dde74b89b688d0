/**
 * The invariants of single invocations: how an invocation ends, which faults excuse an answer of 500, and
 * what the service must not do after its answer or for a request that the account's rate refuses.
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Change } from '../aws/simulated-table.ts';
import { detailsOf, memberOf } from '../clients/requests.ts';
import type { PostResult } from '../../../service/outbound/outbound.ts';
import type { Post } from '../network/outbound.ts';
import { expectedResults } from '../network/peers.ts';
import type { Fault, FaultKind } from '../world/faults.ts';
import type { Invocation, LateCall, World } from '../world/simulated-world.ts';
import type { Accuse } from './money-books.ts';

/**
 * Whether a fault excuses an answer of 500. A conflict or a throttle never does. The SDK's own retry absorbs the kinds
 * marked 'once', so such a fault excuses a 500 only at a port without the SDK.
 */
const excuses: Readonly<Record<FaultKind, 'yes' | 'no' | 'once'>> = {
  error: 'once',
  lost: 'once',
  errors: 'yes',
  all_lost: 'yes',
  lost_then_throttled: 'yes',
  lost_then_conflicts: 'yes',
  throttle: 'no',
  throttles: 'no',
  conflict: 'no',
  conflicts: 'no',
  crash_before: 'yes',
  crash_after: 'yes',
  crash_late: 'yes',
  late: 'yes',
  late_answer: 'yes',
  hang: 'yes',
  lag: 'no',
  unprocessed: 'no',
  all_unprocessed: 'no',
  refused: 'yes',
  stored_error: 'no',
  stored_error_after_effect: 'no',
  late_effect: 'no',
  key_refused: 'no',
  broken_page: 'no',
  twice: 'no',
  unheard: 'no',
  no_room: 'no',
};
const sdkSites = / (dynamodb|states|secretsmanager)\./;
/** Without an answer to a read, nothing is changed: the request is answered 503, and never 500. */
const readSites = / dynamodb\.(GetItem|BatchGetItem|Query) /;
const unanswered: ReadonlySet<FaultKind> = new Set([
  'error',
  'errors',
  'lost',
  'all_lost',
  'lost_then_throttled',
  'lost_then_conflicts',
  'late',
  'late_answer',
  'hang',
]);
const attemptMillis = 10_000;
/** The functions of the API. They must answer within their time limits, whatever hangs. */
const apiFunctions = new Set([
  'generate',
  'get',
  'list',
  'balance',
  'quote',
  'models',
  'upload',
  'cancel',
  'delete',
  'openai',
  'portal-read',
  'portal-manage',
  'portal-generate',
  'portal-cancel',
  'portal-pay',
  'portal-sign-in',
  'operator-api',
]);

/** The commands that try until they succeed. */
const urgent = new Set([
  'operator-revoke',
  'operator-suspend',
  'operator-activate',
  'operator-revoke_operator_key',
]);

/**
 * Lasting faults. They use up the quota of retries that a client of the SDK has for all of its calls
 * together.
 */
const lasting: ReadonlySet<FaultKind> = new Set(['errors', 'all_lost', 'throttles', 'lost_then_throttled']);

/**
 * Lasting faults that refuse every further try of a call, so that the outcome of the first try stays unknown.
 */
const hiding: ReadonlySet<FaultKind> = new Set(['conflicts', 'throttles']);

/**
 * Whether the outcome of a call is unknown: its answer was lost or was an internal error, and every further try was
 * refused. One fault of the kinds lost_then_… does this, and two faults at the same call.
 */
function leavesOutcomeUnknown(faults: readonly Fault[]): boolean {
  // An internal error of the service does not say either whether the write was made.
  const lost = faults.filter(({ kind }) => kind === 'lost' || kind === 'error').map(({ site }) => site);
  return faults.some(({ kind, site }) => hiding.has(kind) && lost.includes(site));
}

/** The SDK tries a call three times. An error behind two throttles is its last answer. */
function usesUpTheTries(faults: readonly Fault[]): boolean {
  return faults.some(({ site, kind }) => {
    const atSite = faults.filter((one) => one.site === site);
    return (kind === 'lost' || kind === 'error') && atSite.length >= 3;
  });
}

/**
 * The SDK's retry absorbs one fault of the kinds marked 'once'. Two of them excuse a 500, and after a lasting fault a
 * single one does, because the quota of retries may be used up.
 */
function excuse(faults: readonly Fault[], ofWorld: readonly Fault[]): boolean {
  if (leavesOutcomeUnknown(faults) || usesUpTheTries(faults)) return true;
  const felt = faults.filter(({ kind, site }) => !(unanswered.has(kind) && readSites.test(site)));
  const absorbed = felt.filter(({ kind, site }) => excuses[kind] === 'once' && sdkSites.test(site));
  if (absorbed.length > (ofWorld.some(({ kind }) => lasting.has(kind)) ? 0 : 1)) return true;
  return felt.some(
    ({ kind, site }) => excuses[kind] === 'yes' || (excuses[kind] === 'once' && !sdkSites.test(site)),
  );
}

/** What an invocation did so far. */
interface Deeds {
  fetches: number;
  charges: number;
  readonly reads: Map<string, number>;
  /** The status and the reason of its refusal, when the refusal says that nothing was charged. */
  refusedWith?: string;
}

export function createInvocationInvariants(world: World, accuse: Accuse) {
  const deeds = new Map<string, Deeds>();
  const deedsOf = (id: string): Deeds => {
    const known = deeds.get(id) ?? { fetches: 0, charges: 0, reads: new Map<string, number>() };
    deeds.set(id, known);
    return known;
  };

  function behindTheAnswer({ invocation, operation, target }: LateCall): void {
    if (operation === 'TransactWriteItems' && target.startsWith('ACCOUNT+'))
      accuse('nothing is charged behind the answer', `${invocation.id} sends ${target}`);
  }

  function rateRefusesFirst({ id, faults }: Invocation): void {
    const { fetches, charges, reads } = deedsOf(id);
    if (fetches > 0)
      accuse('nothing is fetched for a request that its rate refuses', `${id}: ${fetches} fetches`);
    if (charges > 0) accuse('nothing is charged for a request that its rate refuses', id);
    // A replay reads the creation once. A second read of the same creation means that the request waits for
    // the end of the creation. After a fault the SDK itself may have read again.
    if (faults.length === 0 && Math.max(0, ...reads.values()) > 1)
      accuse('nothing is waited for, for a request that its rate refuses', id);
  }

  world.onLateCall = behindTheAnswer;
  return {
    onCommit: (changes: readonly Change[]) => {
      const id = world.current()?.id;
      if (id === undefined || !changes.some(({ sk, before }) => sk === 'CREATION' && !before)) return;
      const known = deedsOf(id);
      known.charges += 1;
      if (known.refusedWith !== undefined)
        accuse(
          'a refusal before the charge leaves no row but its count',
          `${id} answered ${known.refusedWith} before`,
        );
    },
    /** Called when a creation was read by its id. */
    onRead: (creation: string) => {
      const id = world.current()?.id;
      if (id === undefined) return;
      const { reads } = deedsOf(id);
      reads.set(creation, (reads.get(creation) ?? 0) + 1);
    },
    /** Called when a request for a source image arrived at its origin. */
    onFetch: () => {
      const id = world.current()?.id;
      if (id !== undefined) deedsOf(id).fetches += 1;
    },
    /** Called when an API function or the gateway answered. */
    onServed: (invocation: Invocation, { statusCode = 0, body }: APIGatewayProxyStructuredResultV2) => {
      const details = detailsOf(body);
      if (statusCode === 500 && !excuse(invocation.faults, world.injected)) {
        accuse(
          'no answer of 500 without a fault that excuses it',
          `${invocation.id} after ${JSON.stringify(invocation.faults)}`,
        );
      }
      if (details?.['reason'] === 'account_rate') rateRefusesFirst(invocation);
      if (statusCode >= 400 && statusCode !== 500 && details && details['creation_id'] === undefined)
        deedsOf(invocation.id).refusedWith = `${statusCode} ${memberOf(details, 'reason')}`;
    },
    onEnded: (invocation: Invocation, errorType: string | undefined) => {
      if (
        errorType !== undefined &&
        urgent.has(invocation.name) &&
        !excuse(invocation.faults, world.injected)
      ) {
        accuse(
          'a revocation or suspension outlasts conflicts and throttles',
          `${invocation.id} failed with ${errorType}`,
        );
      }
      if (errorType !== 'Sandbox.Timedout') return;
      if (apiFunctions.has(invocation.name))
        accuse('the API answers before its time limit, whatever hangs', invocation.id);
      else if (invocation.faults.length === 0)
        accuse('a function without a fault ends in its time', invocation.id);
    },
    onPostEnded: (startedAt: number, post: Post | undefined, result: PostResult) => {
      const took = world.time.now() - startedAt;
      if (took > attemptMillis) accuse('an attempt ends within its ten seconds', `${took} ms`);
      const behaviour = post && new URL(post.url).pathname.slice(1);
      const expected = expectedResults.get(behaviour ?? '');
      // After a fault the connection may have broken before the receiver answered.
      if (post?.sender?.faulted !== false || expected === undefined) return;
      const told = result.kind === 'answered' ? `answered ${result.status}` : `unanswered ${result.reason}`;
      if (told !== expected)
        accuse('an attempt tells how its receiver behaved', `${behaviour ?? ''}: ${told}, not ${expected}`);
    },
  };
}
