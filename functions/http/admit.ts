/**
 * Admits every request of an authenticated caller: a first check of the rate, the work, which is counted, and
 * the rate headers. The API, the OpenAI-shaped endpoint and the playground differ only in their parameters.
 */
import type { Problem } from '../../core/problem.ts';
import type { ApiServices } from '../services/api.ts';
import type { Authenticated, Caller } from './caller.ts';
import { countedGet } from './counted-get.ts';
import { countedPost, isOverloaded } from './counted-post.ts';
import { problemOf } from './framed.ts';
import { RateExceeded } from './problems.ts';
import { checkRate, openRatePlace, rateHeaders, type Rate } from './rate.ts';
import type { ApiRequest } from './request.ts';

interface WithHeaders {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Door<Answer extends WithHeaders> {
  /** The account's rate that the request counts against. */
  readonly rate: Rate;
  readonly request: Pick<ApiRequest, 'path' | 'requestId'>;
  /** From the key, or from the session and the key of its playground. */
  readonly known: Authenticated;
  readonly run: (caller: Caller) => Promise<Answer>;
  /** Makes the answer of a refusal. */
  readonly refuse: (problem: Problem) => Answer;
}

/** The answer of the work, or its refusal, with the headers of the account's rate. It never throws. */
export async function admit<Answer extends WithHeaders>(
  door: Door<Answer>,
  services: Pick<ApiServices, 'requests' | 'log'>,
): Promise<Answer> {
  const { rate, request, known, refuse } = door;
  const withRate = (answer: Answer, places: number): Answer => ({
    ...answer,
    headers: { ...rateHeaders(known, rate, places), ...answer.headers },
  });
  try {
    return withRate(await counted(door, services), 1);
  } catch (error) {
    const problem = problemOf(error, request.requestId, services);
    if (isOverloaded(problem)) services.log.info('request_shed', { path: request.path });
    return withRate(refuse(problem), problem instanceof RateExceeded ? Infinity : 1);
  }
}

/** The work within the rate of the account. Throws the Problem of a refusal. */
export async function counted<Answer>(
  { rate, known, run }: Pick<Door<never>, 'rate' | 'known'> & { run: (caller: Caller) => Promise<Answer> },
  services: Pick<ApiServices, 'requests' | 'log'>,
): Promise<Answer> {
  checkRate(known, rate);
  const caller = { ...known, place: openRatePlace(known, rate, services.requests) };
  const work = (): Promise<Answer> => run(caller);
  return rate === 'get' ? countedGet(caller, services, work) : countedPost(caller.place, work);
}
