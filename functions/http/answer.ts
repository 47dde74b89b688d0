import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { AuthFailureForm } from '../../core/contract.ts';
import { Problem } from '../../core/problem.ts';

/** What an operation answers; headers in lower case. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The one place where HTTP answers are made. */
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

/** A refusal in the envelope of interface.md part 7; an authentication failure in the deployment's form. */
export function problemAnswer(problem: Problem, form: AuthFailureForm): ApiAnswer {
  const isAuthentication = problem.status === 401 || problem.status === 403;
  const headers =
    problem.status === 401 ? { ...problem.headers, 'www-authenticate': 'Bearer' } : problem.headers;
  if (isAuthentication && form === 'plain') {
    return {
      status: problem.status,
      headers,
      body: { detail: problem.plainDetail ?? problem.details['reason'] },
    };
  }
  return {
    status: problem.status,
    headers,
    body: { error: { code: problem.code, message: problem.message, details: problem.details } },
  };
}

/** Says nothing of the cause: that is in the log, under the request's id. */
export function internalProblem(): Problem {
  return new Problem(
    'ERR_INTERNAL',
    'An unexpected error occurred. Nothing is known to be wrong with the request.',
  );
}
