/**
 * What can go wrong at a call, below the SDK's own retry: which kinds a call can suffer,
 * and the plans that decide where they strike.
 */
import type { Dice } from './dice.ts';

export type FaultKind =
  /** A 500 before anything happened; once, and more often than the SDK retries. */
  | 'error'
  | 'errors'
  /** It happened, and its answer is lost on the way; once, and each time. */
  | 'lost'
  | 'all_lost'
  /** It happened with its answer lost; every further try is throttled. */
  | 'lost_then_throttled'
  /** It happened with its answer lost; every further try meets a conflict. */
  | 'lost_then_conflicts'
  | 'throttle'
  | 'throttles'
  | 'conflict'
  | 'conflicts'
  /** The invocation dies at the call, or behind its effect. */
  | 'crash_before'
  | 'crash_after'
  /** The call, or its answer, takes longer than the invocation may. */
  | 'late'
  | 'late_answer'
  /** No answer for good, whether the effect happened or not; the connection stays open. */
  | 'hang'
  /** A query sees the index as it was. */
  | 'lag'
  | 'unprocessed'
  | 'all_unprocessed'
  /** A definite refusal: the machine is not ours to start. */
  | 'refused'
  /** A Task: run twice at once, its end not heard of while it runs on, no room to run it. */
  | 'twice'
  | 'unheard'
  | 'no_room';

export interface Call {
  /** The dependency: dynamodb, states, secretsmanager, images, provider, receiver, task, gateway. */
  readonly service: string;
  readonly operation: string;
  /** Its place in the code, as the trace names it. */
  readonly site: string;
  /** The how-manieth call of the site. */
  readonly occurrence: number;
}

/** A fault where it struck, and where it is to strike again. */
export interface Fault {
  readonly site: string;
  readonly occurrence: number;
  readonly kind: FaultKind;
}

/** The fault that a call suffers, if any. */
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
          return more('conflict', 'conflicts', 'lost_then_throttled');
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
    case 'images':
    case 'provider':
      return ['error', 'lost', 'crash_before', 'crash_after', 'late', 'late_answer', 'hang'];
    case 'receiver':
      return ['error', 'lost', 'crash_before', 'crash_after', 'late_answer', 'hang'];
    default:
      return more();
  }
}

/** A site that the seed has an eye on, and how often its calls are struck: what is seldom called would hardly ever be. */
const watched = 0.05;
const watchedProbability = 0.35;

/** Strikes each call with the same small probability, and those of a few sites much more often. */
export function randomFaults(dice: Dice, probability: number): FaultPlan {
  if (probability === 0) return () => undefined;
  return (call) => {
    const name = `fault ${call.site} ${call.occurrence}`;
    const own = dice.chance(`eye on ${call.site}`, watched) ? watchedProbability : probability;
    return dice.chance(name, own) ? dice.pick(`${name} kind`, kindsFor(call)) : undefined;
  };
}

const singleWrites: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/** Refuses each single write with this probability, as a transaction that holds its item would. */
export function conflictingWrites(dice: Dice, probability: number): FaultPlan {
  return ({ service, operation, site, occurrence }) =>
    service === 'dynamodb' &&
    singleWrites.has(operation) &&
    dice.chance(`conflict ${site} ${occurrence}`, probability)
      ? 'conflict'
      : undefined;
}

/** Strikes where it is told to, and nowhere else. */
export function plannedFaults(faults: readonly Fault[]): FaultPlan {
  const planned = new Map(faults.map((fault) => [`${fault.site} ${fault.occurrence}`, fault.kind]));
  return ({ site, occurrence }) => planned.get(`${site} ${occurrence}`);
}
