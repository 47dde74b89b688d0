/** ReceiveCallback: a vendor reports the end of a job. Of its body, only the job's id is trusted. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { idsOf, isTerminal } from '../creations/creation.ts';
import { Overloaded } from '../values/errors.ts';
import { errorName, isKnownVersion, logWith } from '../values/runtime.ts';
import {
  attemptOf,
  type Callback,
  type CallbackOutcome,
  callbackOutcomes,
  type CalledAttempt,
  callingProvider,
  refusalOf,
} from './check-callback.ts';
import { finishJob, settleLate } from './finish-job.ts';
import type { CallbackServices } from './open.ts';

export async function receiveCallback(
  event: APIGatewayProxyEventV2,
  requestId: string,
  services: CallbackServices,
): Promise<APIGatewayProxyStructuredResultV2> {
  const began = services.clock.elapsed();
  const callback = callbackOf(event);
  const provider = await callingProvider(callback, services);
  const found = provider && (await tolerant(() => attemptOf(callback, provider, services), services));
  const named = isAttempt(found) ? logWith(services, idsOf(found.creation)) : services;
  const outcome = isAttempt(found)
    ? await tolerant(() => outcomeOf(callback, found, requestId, named), named)
    : (found ?? 'unknown');
  const millis = Math.round(services.clock.elapsed() - began);
  named.log.info('callback_received', { provider: provider?.name, outcome, millis });
  return {
    statusCode: callbackOutcomes[outcome],
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify({ received: callbackOutcomes[outcome] === 200 }),
  };
}

/** From API Gateway's payload format 2.0. */
function callbackOf({ pathParameters, headers, body, isBase64Encoded }: APIGatewayProxyEventV2): Callback {
  return {
    provider: pathParameters?.['provider'] ?? '',
    creationId: pathParameters?.['creation_id'] ?? '',
    capability: pathParameters?.['capability'] ?? '',
    headers,
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
  };
}

async function outcomeOf(
  callback: Callback,
  called: CalledAttempt,
  requestId: string,
  services: CallbackServices,
): Promise<CallbackOutcome> {
  const refusal = await refusalOf(callback, called, services);
  if (refusal !== undefined) return refusal;
  if (!isKnownVersion(called.creation.v, services.schema)) return 'newer_release';
  return isTerminal(called.creation.status)
    ? settleLate(called.creation.id, services)
    : finishJob(called, requestId, services);
}

function isAttempt(found: CalledAttempt | CallbackOutcome | undefined): found is CalledAttempt {
  return typeof found === 'object';
}

/** A step that breaks is answered with 503: the vendor repeats its callback. */
async function tolerant<Result>(
  step: () => Promise<Result>,
  { log }: Pick<CallbackServices, 'log'>,
): Promise<Result | CallbackOutcome> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof Overloaded) return 'busy';
    log.alarm('request_failed', { error: errorName(error), stack: stackOf(error) });
    return 'broke';
  }
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
