/** What the functions of the API and the portal share: the time of a request, and answers to errors. */
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { overdueMillis, requestMillis } from '../contract/limits.ts';
import type { CommonServices, OpenServices } from '../platform/common.ts';
import { Overloaded } from '../values/errors.ts';
import { Problem } from '../values/problem.ts';
import type { TimeBudget } from '../values/time.ts';
import { internalError, overloaded } from './problems.ts';
import { requestIdOf } from './request-id.ts';

export type ApiHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

type Result = APIGatewayProxyStructuredResultV2;
type ServedContext<Services> = Context & { readonly services: Services };
type Frame<Services> = middy.MiddlewareObj<APIGatewayProxyEventV2, Result, Error, ServedContext<Services>>;
type TimedServices = CommonServices & { readonly budget: TimeBudget };

/** A Lambda handler behind the gateway. @param open opens the services, and the time, of one request */
export function framed<Services extends TimedServices>(
  answer: (event: APIGatewayProxyEventV2, services: Services) => Promise<Result>,
  refuse: (problem: Problem, services: Services, requestId: string) => Result,
  open: OpenServices<Services>,
): ApiHandler {
  const served = middy<APIGatewayProxyEventV2, Result, Error, ServedContext<Services>>({
    // The time budget ends a request before Lambda does. middy's own early answer would leave work running.
    timeoutEarlyInMillis: 0,
  })
    .use(frame(refuse))
    .handler(async (event, { services }) => answer(event, services));
  return async (event, context) => served(event, { ...context, services: open() });
}

/** Ends the time of the request with its answer, and answers what was thrown outside an operation. */
function frame<Services extends TimedServices>(
  refuse: (problem: Problem, services: Services, requestId: string) => Result,
): Frame<Services> {
  return {
    // No work continues after the answer: a frozen environment would finish the work minutes later.
    after: ({ context: { services } }) => services.budget.end(),
    onError: (failed) => {
      const { services } = failed.context;
      services.budget.end();
      const { headers, requestContext } = failed.event;
      const requestId = requestIdOf(requestContext.requestId, headers, requestContext.timeEpoch);
      failed.response = refuse(problemOf(failed.error, requestId, services), services, requestId);
    },
  };
}

/** Ends an operation with its time budget. One that continues all the same is abandoned. */
export async function inTime<Answer>(
  answering: Promise<Answer>,
  { clock }: Pick<CommonServices, 'clock'>,
  millis = requestMillis,
): Promise<Answer> {
  const overdue = clock.timeout(millis + overdueMillis);
  try {
    return await Promise.race([
      answering,
      new Promise<never>((_, reject) => {
        overdue.signal.addEventListener('abort', () => reject(new Error('the answer is overdue')), {
          once: true,
        });
      }),
    ]);
  } finally {
    overdue.release();
  }
}

/** What the client gets of anything thrown. An unexpected error enters the log with an alarm. */
export function problemOf(error: unknown, requestId: string, { log }: Pick<CommonServices, 'log'>): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Overloaded) return overloaded();
  const known = error instanceof Error ? error : new Error(String(error));
  log.alarm('request_failed', { requestId, error: known.name, stack: known.stack });
  return internalError();
}
