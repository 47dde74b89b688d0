/**
 * The kinds of faults that can strike a call, which calls can suffer which kind, and the plans that decide
 * where a fault strikes. Faults strike below the SDK's own retry, so the SDK may absorb them.
 */
import type { Dice } from './dice.ts';

export type FaultKind =
  /** The call is answered with 500 and has no effect: once, or for longer than the SDK retries. */
  | 'error'
  | 'errors'
  /** The call takes effect and its answer is lost: once, or each time. */
  | 'lost'
  | 'all_lost'
  /** The call takes effect, its answer is lost, and every further try is throttled. */
  | 'lost_then_throttled'
  /** The call takes effect, its answer is lost, and every further try meets a conflict. */
  | 'lost_then_conflicts'
  /** The service throttles the call, or refuses it because of a conflict: once, or each time. */
  | 'throttle'
  | 'throttles'
  | 'conflict'
  | 'conflicts'
  /** The invocation dies just before the call, or after its effect. */
  | 'crash_before'
  | 'crash_after'
  /** The invocation dies when it has sent the call. The call arrives much later, when others have gone on. */
  | 'crash_late'
  /** The call, or its answer, takes longer than the invocation may run. */
  | 'late'
  | 'late_answer'
  /** The answer never comes and the connection stays open. The effect may have happened. */
  | 'hang'
  /** A query sees the index as it was some time ago. */
  | 'lag'
  /** BatchGetItem leaves all but the first key unprocessed: once, or each time. */
  | 'unprocessed'
  | 'all_unprocessed'
  /** StartExecution is refused for good with AccessDeniedException. */
  | 'refused'
  /** Stripe answers 500 and stores this under the Idempotency-Key: without the effect, or after it. */
  | 'stored_error'
  | 'stored_error_after_effect'
  /** The connection to Stripe ends, and the call takes effect five minutes later. */
  | 'late_effect'
  /** Stripe refuses the key; or breaks every page of a list but the first. */
  | 'key_refused'
  | 'broken_page'
  /** A Task runs twice at once; runs on while its end is never reported; or finds no room to run. */
  | 'twice'
  | 'unheard'
  | 'no_room';

export interface Call {
  /** dynamodb, states, secretsmanager, images, provider, receiver, task, gateway or stripe. */
  readonly service: string;
  readonly operation: string;
  /** The call site in the code, as the trace names it. */
  readonly site: string;
  /** The number of this call among all calls of the site, counted from 1. */
  readonly occurrence: number;
}

/** A fault and the call that it struck, or that it has to strike when the run is repeated. */
export interface Fault {
  readonly site: string;
  readonly occurrence: number;
  readonly kind: FaultKind;
}

/** Decides which fault a call suffers, if any. */
export type FaultPlan = (call: Call) => FaultKind | undefined;

const always: readonly FaultKind[] = [
  'error',
  'errors',
  'lost',
  'all_lost',
  'throttle',
  'throttles',
  'crash_before',
  'crash_after',
  'late',
  'late_answer',
  'hang',
];

/**
 * The fault that later calls meet after a lasting fault, as long as the same invocation goes on trying at the
 * same site. A kind that is absent here strikes only once.
 */
export const continuation: Readonly<Partial<Record<FaultKind, FaultKind>>> = {
  errors: 'errors',
  all_lost: 'all_lost',
  throttles: 'throttles',
  conflicts: 'conflicts',
  all_unprocessed: 'all_unprocessed',
  lost_then_throttled: 'throttles',
  lost_then_conflicts: 'conflicts',
};

/** The kinds that a call can suffer. */
export function kindsFor({
  service,
  operation,
}: Pick<Call, 'service' | 'operation'>): readonly [FaultKind, ...FaultKind[]] {
  const more = (...kinds: FaultKind[]): readonly [FaultKind, ...FaultKind[]] => [
    'error',
    ...always.slice(1),
    ...kinds,
  ];
  switch (service) {
    case 'dynamodb':
      switch (operation) {
        case 'TransactWriteItems':
          return more('conflict', 'conflicts', 'lost_then_throttled', 'lost_then_conflicts');
        case 'UpdateItem':
        case 'PutItem':
        case 'DeleteItem':
          return more('conflict', 'conflicts', 'lost_then_throttled', 'crash_late');
        case 'Query':
          return more('lag');
        case 'BatchGetItem':
          return more('unprocessed', 'all_unprocessed');
      }
      return more();
    case 'states':
      return operation === 'StartExecution' ? more('refused', 'lost_then_throttled') : more();
    case 'task':
      return ['crash_before', 'twice', 'unheard', 'no_room', 'error'];
    case 'gateway':
      return ['lost', 'no_room'];
    case 'stripe':
      return operation.startsWith('POST')
        ? more(
            'conflict',
            'crash_late',
            'stored_error',
            'stored_error_after_effect',
            'late_effect',
            'key_refused',
          )
        : more('key_refused', 'lag', 'broken_page');
    case 'images':
    case 'provider':
      return ['error', 'lost', 'crash_before', 'crash_after', 'late', 'late_answer', 'hang'];
    case 'receiver':
      return ['error', 'lost', 'crash_before', 'crash_after', 'late_answer', 'hang'];
    default:
      return more();
  }
}

/**
 * A share of the call sites is struck much more often. Otherwise a fault would hardly ever meet a site that
 * is seldom called.
 */
const oftenStruckShare = 0.05;
const oftenStruckProbability = 0.35;

/**
 * Strikes each call with the same small probability, and the calls of a few sites much more often.
 * @param ofStripe the probability for a call of Stripe
 */
export function randomFaults(dice: Dice, probability: number, ofStripe = probability): FaultPlan {
  if (probability === 0 && ofStripe === 0) return () => undefined;
  return (call) => {
    const name = `fault ${call.site} ${call.occurrence}`;
    const usual = call.service === 'stripe' ? ofStripe : probability;
    const isOften = probability > 0 && dice.chance(`eye on ${call.site}`, oftenStruckShare);
    const own = isOften ? oftenStruckProbability : usual;
    return dice.chance(name, own) ? dice.pick(`${name} kind`, kindsFor(call)) : undefined;
  };
}

const singleWrites: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/** Refuses each single write with this probability, as if a transaction held the item. */
export function conflictingWrites(dice: Dice, probability: number): FaultPlan {
  return ({ service, operation, site, occurrence }) =>
    service === 'dynamodb' &&
    singleWrites.has(operation) &&
    dice.chance(`conflict ${site} ${occurrence}`, probability)
      ? 'conflict'
      : undefined;
}

/** Strikes exactly these calls. */
export function plannedFaults(faults: readonly Fault[]): FaultPlan {
  const planned = new Map(faults.map((fault) => [`${fault.site} ${fault.occurrence}`, fault.kind]));
  return ({ site, occurrence }) => planned.get(`${site} ${occurrence}`);
}
