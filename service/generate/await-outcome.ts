/** `Prefer: wait=N` (RFC 7240): the answer is held until the creation has ended or the time is over. */
import { acceptedAnswer, type ApiAnswer, type Made, withHeaders } from '../api/answer.ts';
import { type HoldServices, openHold } from '../api/hold.ts';
import type { ApiServices } from '../api/open.ts';
import { generationFailed } from '../api/problems.ts';
import { latestAnswerMillis, longestWaitSeconds } from '../contract/limits.ts';
import { type CreationRecord, isTerminal } from '../creations/creation.ts';
import type { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import type { Creations } from './earlier-request.ts';

/** A request that waits for its creations polls them at growing intervals. */
const firstPauseMillis = 150;

export interface PollOptions {
  /** Milliseconds of the request's time. The last poll is at that time. */
  readonly untilMillis: number;
  /** The pauses grow to this. */
  readonly longestPauseMillis: number;
}

export function haveEnded(creations: Creations): boolean {
  return creations.every(({ status }) => isTerminal(status));
}

/** The creations, and after each poll again, in order, until all have ended or the time is over. */
export async function* pollCreations(
  creations: Creations,
  { untilMillis, longestPauseMillis }: PollOptions,
  { clock, creations: reader, budget }: Pick<ApiServices, 'clock' | 'creations' | 'budget'>,
): AsyncGenerator<Creations> {
  const poll = async (creation: CreationRecord): Promise<CreationRecord> =>
    isTerminal(creation.status) ? creation : ((await reader.read(creation.id)) ?? creation);
  let last = creations;
  yield last;
  for (let pause = firstPauseMillis; !haveEnded(last); pause = Math.min(longestPauseMillis, pause * 1.5)) {
    const [first, ...others] = last;
    last = await Promise.all([poll(first), ...others.map(poll)]);
    yield last;
    const left = untilMillis - budget.elapsed();
    if (haveEnded(last) || left <= 0) return;
    await clock.sleep(Math.min(pause, left), budget.signal);
  }
}

const longestPauseMillis = 1_000;

/** The seconds that a Prefer header asks to wait, at most 20. Undefined: none, or it cannot be read. */
export function waitSeconds(prefer: string | undefined): number | undefined {
  const match = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(prefer ?? '');
  return match ? Math.min(longestWaitSeconds, Number(match[1])) : undefined;
}

/**
 * 200 with the creations when one of them completed, or failed through its own request. 202 when they are not all
 * terminal in time, or cannot be read. 202 at once, and no Preference-Applied, when the request cannot be held.
 * Throws the Problem of any other failure.
 * @param made as it was charged, or as a replay has read it
 * @param seconds of the Prefer header; the answer comes at most 25 s after the request's arrival
 */
export async function awaitOutcome(
  made: Made,
  seconds: number,
  services: ApiServices & HoldServices,
): Promise<ApiAnswer> {
  const accepted = await seenAs(made, services);
  const last = await lastSeen(accepted, made, seconds, services);
  if (!last) return accepted.answer;
  const answer = withHeaders(last.answer, { 'preference-applied': `wait=${seconds}` });
  if (!haveEnded(last.creations)) return answer;
  const [refusal, ...others] = last.creations.map(refusalOf);
  if (refusal && others.every((other) => other !== undefined)) throw refusal;
  const { 'retry-after': _later, ...headers } = answer.headers ?? {};
  return { ...answer, status: 200, headers };
}

interface Seen {
  readonly creations: Creations;
  readonly answer: ApiAnswer;
}

async function seenAs(made: Made, services: ApiServices): Promise<Seen> {
  return { creations: made.creations, answer: await acceptedAnswer(made, services) };
}

/**
 * The creations when they have ended or the time is over. Undefined: the account has no free slot to wait.
 */
async function lastSeen(
  accepted: Seen,
  made: Made,
  seconds: number,
  services: ApiServices & HoldServices,
): Promise<Seen | undefined> {
  const { budget, log } = services;
  const { creations } = accepted;
  const untilMillis = Math.min(budget.elapsed() + seconds * 1000, latestAnswerMillis);
  const hold = openHold(creations[0].accountId, untilMillis, services);
  let last = accepted;
  try {
    const waits = seconds > 0 && !haveEnded(creations);
    if (waits && !(await hold.take())) return undefined;
    for await (const seen of pollCreations(creations, { untilMillis, longestPauseMillis }, services)) {
      // A result whose address cannot be signed now is left to a poll.
      last = await seenAs({ ...made, creations: seen }, services);
    }
  } catch (error) {
    // The creations are accepted and charged, so an error of a read is no reason to refuse the request.
    log.info('wait_broken_off', { creationId: creations[0].id, error: errorName(error) });
  } finally {
    await hold.release();
  }
  return last;
}

/** The refusal for a failure that is not the request's own; undefined otherwise. */
function refusalOf(creation: CreationRecord): Problem | undefined {
  const { failure } = creation;
  const isOfTheRequest = failure === 'PromptRejected' || failure === 'SourceImageRejected';
  return failure === undefined || isOfTheRequest ? undefined : generationFailed(creation, failure);
}
