/** The far end of a call: when its effect happens, and which answer reaches the caller. */
import type { Dice } from './dice.ts';
import {
  attempt,
  type Effect,
  losesTheAnswer,
  lost,
  Ongoing,
  type Outcome,
  refusedAtTheDoor,
} from './effects.ts';
import type { FaultKind } from './faults.ts';
import type { VirtualTime } from './time.ts';

/** What reaches the caller: an outcome, the crash of the caller itself, or nothing for ever. */
export type Arrived<Answer> = Outcome<Answer> | 'crash' | 'silence';

export interface ServedCall<Answer> {
  /** The name of this one call, under which the dice answer. */
  readonly name: string;
  readonly service: string;
  readonly fault: FaultKind | undefined;
  readonly effect: Effect<Answer>;
  /** Writes the result into the trace. */
  readonly says: (text: string) => void;
}

export interface FarEnd {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly holdMillis: readonly [least: number, most: number];
  /** Additional time of a call of the image bucket at present, in milliseconds. */
  readonly bucketDelayMillis: () => number;
}

/** Delays longer than an API function, a webhook delivery and a rendering may take. */
const lateMillis = [35_000, 70_000, 900_000] as const;
/** How often a lost answer or a crash comes before the commit of the transaction, instead of after it. */
const beforeTheCommit = 0.5;
/** How often a call that hangs has its effect. */
const hangsAfterItsEffect = 0.5;

/** Rejects only for a defect of the simulation itself. Time passes here even if the caller is gone. */
export async function serveCall<Answer>(
  { time, dice, holdMillis, bucketDelayMillis }: FarEnd,
  { name, service, fault, effect, says }: ServedCall<Answer>,
): Promise<Arrived<Answer>> {
  const pause = (millis: number): Promise<void> =>
    new Promise((resolve) => {
      time.after(millis, resolve);
    });
  const travel = (isLate: boolean, least: number, way: 'before' | 'after'): Promise<void> =>
    pause(isLate ? dice.pick(`late ${name}`, lateMillis) : dice.between(`${way} ${name}`, least, 12));
  /** Ends a transaction that holds its items. */
  const finish = async ({ finish: commit }: Ongoing<Answer>): Promise<Outcome<Answer>> => {
    await pause(dice.between(`hold ${name}`, ...holdMillis));
    return attempt(commit);
  };

  const refusedEarly = refusedAtTheDoor(service, fault);
  await travel(fault === 'late' || fault === 'crash_late', 1, 'before');
  const bucketDelay = service === 'images' ? bucketDelayMillis() : 0;
  if (bucketDelay > 0) await pause(bucketDelay);
  if (fault === 'hang' && !dice.chance(`effect of ${name}`, hangsAfterItsEffect)) {
    says('hangs');
    return 'silence';
  }
  const arrived = refusedEarly ?? attempt(() => effect(fault));
  const transaction = arrived.text === 'ok' ? arrived.answer() : undefined;
  let outcome: Outcome<Answer>;
  if (transaction instanceof Ongoing) {
    if ((losesTheAnswer(fault) || fault === 'crash_after') && dice.chance(`early ${name}`, beforeTheCommit)) {
      void finish(transaction).then(({ text }) => {
        says(`${text} (unheard)`);
      });
      return fault === 'crash_after' ? 'crash' : lost('in flight');
    }
    outcome = await finish(transaction);
  } else outcome = arrived as Outcome<Answer>;
  if (losesTheAnswer(fault)) outcome = lost(outcome.text);
  says(outcome.text);
  if (fault === 'crash_after') return 'crash';
  if (fault === 'hang') return 'silence';
  await travel(fault === 'late_answer', 0, 'after');
  return outcome;
}
