/**
 * `Prefer: wait=N` (RFC 7240): the answer is held until the creation is terminal, until N seconds have
 * passed, or until shortly before the gateway's own time limit.
 */
import { isTerminal, type CreationRecord } from '../../../core/creation.ts';
import { latestAnswerMillis, longestWaitSeconds } from '../../../core/limits.ts';
import type { Problem } from '../../../core/problem.ts';
import { errorName } from '../../error-name.ts';
import { acceptedAnswer, withHeaders, type ApiAnswer } from '../../http/answer.ts';
import { openHold, type HoldServices } from '../../http/hold.ts';
import { generationFailed } from '../../http/problems.ts';
import type { ApiServices } from '../../services/api.ts';
import { looksAt } from './looks-at.ts';

const longestLookMillis = 1_000;

/**
 * The seconds that a Prefer header asks to wait, at most 20; undefined when it asks for no wait, or cannot be
 * read.
 */
export function waitSeconds(prefer: string | undefined): number | undefined {
  const match = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(prefer ?? '');
  return match ? Math.min(longestWaitSeconds, Number(match[1])) : undefined;
}

/**
 * 200 with the creation when it completed, or when it failed through its own request. 202 when the creation
 * is not terminal in time, or cannot be read. 202 at once, and no Preference-Applied, when the request cannot be held.
 * Throws the Problem of any other failure.
 * @param creation as it was charged, or as a replay has read it
 * @param seconds of the Prefer header; the answer comes at most 25 s after the request's arrival
 */
export async function awaitOutcome(
  creation: CreationRecord,
  seconds: number,
  services: ApiServices & HoldServices,
): Promise<ApiAnswer> {
  const last = await lastSeen(creation, seconds, services);
  if (!last) return acceptedAnswer(creation, services);
  const applied = { 'preference-applied': `wait=${seconds}` };
  const answer = withHeaders(acceptedAnswer(last, services), applied);
  if (!isTerminal(last.status)) return answer;
  const refusal = refusalOf(last);
  if (refusal) throw refusal;
  const { 'retry-after': _later, ...headers } = answer.headers ?? {};
  return { ...answer, status: 200, headers };
}

/**
 * The creation once it is terminal, or as it was when the time was over. Undefined when the account has no place left
 * in which the request is held.
 */
async function lastSeen(
  creation: CreationRecord,
  seconds: number,
  services: ApiServices & HoldServices,
): Promise<CreationRecord | undefined> {
  const { budget, log } = services;
  const untilMillis = Math.min(budget.elapsed() + seconds * 1000, latestAnswerMillis);
  const hold = openHold(creation.accountId, untilMillis, services);
  let last = creation;
  try {
    const waits = seconds > 0 && !isTerminal(creation.status);
    if (waits && !(await hold.take())) return undefined;
    for await (const [seen] of looksAt([creation], { untilMillis, longestLookMillis }, services)) last = seen;
  } catch (error) {
    // The creation is accepted and charged, so an error of a read is no reason to refuse the request.
    log.info('wait_broken_off', { creationId: creation.id, error: errorName(error) });
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
