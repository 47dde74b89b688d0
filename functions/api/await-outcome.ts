/**
 * `Prefer: wait=N` (RFC 7240): the answer is held until the creation is terminal, N
 * seconds have passed, or the gateway's own limit comes near.
 */
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import { failures } from '../../core/failure.ts';
import type { CreationId } from '../../core/ids.ts';
import { latestAnswerMillis, longestWaitSeconds } from '../../core/limits.ts';
import { CountedProblem, Problem, retryLater } from '../../core/problem.ts';
import type { ApiServices } from '../services.ts';
import { accepted } from './replay.ts';
import type { OperationAnswer } from './serve.ts';

const firstLookMillis = 150;
const longestLookMillis = 1_000;
/** A provider that is out is rarely back sooner. */
const providerRetrySeconds = 30;

/** The seconds of a Prefer header's wait, 20 at most; undefined when it asks for none, or for nonsense, which a preference may. */
export function waitSeconds(prefer: string | undefined): number | undefined {
  const match = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(prefer ?? '');
  return match ? Math.min(longestWaitSeconds, Number(match[1])) : undefined;
}

/**
 * 200 with the creation when it completed, or failed by its own request; the Problem that
 * stands for any other failure is thrown; 202 when it is not terminal in time.
 * @param arrivedAt services.clock.elapsed() when the request came in
 */
export async function awaitOutcome(id: CreationId, seconds: number, arrivedAt: number, services: ApiServices): Promise<OperationAnswer> {
  const { clock, creations } = services;
  const until = Math.min(clock.elapsed() + seconds * 1000, arrivedAt + latestAnswerMillis);
  let creation = await read(id, creations);
  for (let pause = firstLookMillis; !isTerminal(creation.status); pause = Math.min(longestLookMillis, pause * 1.5)) {
    const left = until - clock.elapsed();
    if (left <= 0) break;
    await clock.sleep(Math.min(pause, left));
    creation = await read(id, creations);
  }
  const answer = accepted(creation, services);
  if (!isTerminal(creation.status)) return answer;
  const refusal = refusalOf(creation);
  if (refusal) throw new CountedProblem(refusal);
  const { 'retry-after': _later, ...headers } = answer.headers ?? {};
  return { ...answer, status: 200, headers };
}

async function read(id: CreationId, creations: ApiServices['creations']): Promise<CreationRecord> {
  const creation = await creations.read(id);
  if (!creation) throw new Error('an accepted creation is gone');
  return creation;
}

/** The Problem of a failure that lies not with the request itself. */
function refusalOf({ id, failure }: CreationRecord): Problem | undefined {
  if (failure === undefined || failure === 'PromptRejected' || failure === 'SourceImageRejected') return undefined;
  const { message, retryable } = failures[failure];
  const details = { creation_id: id, error: message, retryable };
  if (failure === 'ServiceUnavailable') {
    return retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'provider_unavailable', ...details }, providerRetrySeconds);
  }
  return new Problem('ERR_GENERATION_FAILED', `${message} The charge was refunded in full.`, details);
}
