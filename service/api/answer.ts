/** The only place where HTTP answers are made. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { firstPollSeconds } from '../contract/limits.ts';
import { apiRoot, type AuthFailureForm } from '../contract/operations.ts';
import { type CreationRecord, creationView } from '../creations/creation.ts';
import { asMicros, type Micros, toUsd } from '../values/money.ts';
import type { Problem } from '../values/problem.ts';
import type { ApiServices } from './open.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function toGateway(answer: ApiAnswer, requestId: string): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: answer.status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...answer.headers,
    },
    body: JSON.stringify(answer.body),
  };
}

/** The same answer with more headers; a header that the answer has already stays. */
export function withHeaders(answer: ApiAnswer, headers: Readonly<Record<string, string>>): ApiAnswer {
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

/** The header with the price in USD, on every answer that charges or quotes. */
export function costHeader(cost: Micros): Readonly<Record<string, string>> {
  return { 'x-darkroom-cost': String(toUsd(cost)) };
}

/** What a request made. `isList`: it named how many, so that the answer is a list, also of one. */
export interface Made {
  readonly creations: readonly [CreationRecord, ...CreationRecord[]];
  readonly isList: boolean;
}

export async function acceptedAnswer(
  { creations, isList }: Made,
  { results, clock }: Pick<ApiServices, 'results' | 'clock'>,
): Promise<ApiAnswer> {
  const [first] = creations;
  const addressOf = await results.of(creations);
  const views = creations.map((creation) => creationView(creation, addressOf, clock.now()));
  return {
    status: 202,
    headers: {
      ...(!isList && { location: `${apiRoot}/creations/${first.id}` }),
      'retry-after': String(firstPollSeconds),
      ...costHeader(asMicros(creations.reduce((sum, { costMicros }) => sum + costMicros, 0))),
    },
    body: isList ? { data: views } : views[0],
  };
}

/** A refusal in the envelope of docs/api.md; an authentication failure in the deployment's form. */
export function problemAnswer(problem: Problem, form: AuthFailureForm): ApiAnswer {
  const { status, details } = problem;
  const headers = status === 401 ? { 'www-authenticate': 'Bearer', ...problem.headers } : problem.headers;
  const isAuthentication = status === 401 || status === 403;
  const body =
    isAuthentication && form === 'plain'
      ? { detail: problem.plainDetail ?? details['reason'] }
      : envelopeOf(problem);
  return { status, headers, body };
}

export function envelopeOf({ code, message, details }: Problem): object {
  return { error: { code, message, details } };
}
