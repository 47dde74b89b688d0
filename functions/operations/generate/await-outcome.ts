/**
 * `Prefer: wait=N` (RFC 7240): the answer is held until the creation is terminal, N
 * seconds have passed, or the gateway's own limit comes near.
 */
import { isTerminal, type CreationRecord } from '../../../core/creation.ts';
import { latestAnswerMillis, longestWaitSeconds } from '../../../core/limits.ts';
import type { Problem } from '../../../core/problem.ts';
import { errorName } from '../../error-name.ts';
import { acceptedAnswer, type ApiAnswer } from '../../http/answer.ts';
import { generationFailed } from '../../http/problems.ts';
import type { ApiServices } from '../../services/api.ts';

const firstLookMillis = 150;
const longestLookMillis = 1_000;

/** The seconds of a Prefer header's wait, 20 at most; undefined when it asks for none, or for nonsense, which a preference may. */
export function waitSeconds(prefer: string | undefined): number | undefined {
  const match = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(prefer ?? '');
  return match ? Math.min(longestWaitSeconds, Number(match[1])) : undefined;
}

/**
 * 200 with the creation when it completed, or failed by its own request; the Problem that
 * stands for any other failure is thrown; 202 when it is not terminal in time, or cannot be read.
 * @param creation as it was charged, or as a replay has read it
 * @param seconds of the Prefer header; the answer is never later than 25 s behind the request's arrival
 */
export async function awaitOutcome(
  creation: CreationRecord,
  seconds: number,
  services: ApiServices,
): Promise<ApiAnswer> {
  const last = await lastSeen(creation, seconds, services);
  const answer = acceptedAnswer(last, services);
  if (!isTerminal(last.status)) return answer;
  const refusal = refusalOf(last);
  if (refusal) throw refusal;
  const { 'retry-after': _later, ...headers } = answer.headers ?? {};
  return { ...answer, status: 200, headers };
}

/** The creation once it is terminal, or as it stood when the time was over. */
async function lastSeen(
  creation: CreationRecord,
  seconds: number,
  { clock, creations, budget, log }: ApiServices,
): Promise<CreationRecord> {
  const until = Math.min(budget.elapsed() + seconds * 1000, latestAnswerMillis);
  let last = creation;
  try {
    for (
      let pause = firstLookMillis;
      !isTerminal(last.status);
      pause = Math.min(longestLookMillis, pause * 1.5)
    ) {
      last = (await creations.read(creation.id)) ?? last;
      const left = until - budget.elapsed();
      if (isTerminal(last.status) || left <= 0) break;
      await clock.sleep(Math.min(pause, left), budget.signal);
    }
  } catch (error) {
    // The creation is accepted and charged: whatever stands in the way of a look is no reason to refuse it.
    log.info('wait_broken_off', { creationId: creation.id, error: errorName(error) });
  }
  return last;
}

/** The refusal for a failure that is not the request's own; undefined otherwise. */
function refusalOf(creation: CreationRecord): Problem | undefined {
  const { failure } = creation;
  const isOfTheRequest = failure === 'PromptRejected' || failure === 'SourceImageRejected';
  return failure === undefined || isOfTheRequest ? undefined : generationFailed(creation, failure);
}
