/** ReceivePayment: Stripe reports what happened. A signed event makes the service read what is true at Stripe. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { Overloaded } from '../values/errors.ts';
import { readVendorJson } from '../values/read-json.ts';
import { errorName } from '../values/runtime.ts';
import { noteOutcome } from './note-outcome.ts';
import type { ReceiveServices } from './open.ts';
import { followHint, type Hinted } from './payment-hint.ts';
import { readEvent, type StripeEvent, Unreadable } from './stripe/objects.ts';
import { isSignedByStripe } from './stripe/signature.ts';

const mostBytes = 256 * 1024;

export async function receivePayment(
  { headers, body, isBase64Encoded }: APIGatewayProxyEventV2,
  services: ReceiveServices,
): Promise<APIGatewayProxyStructuredResultV2> {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  const secrets = await services.webhookSecrets();
  const signature = headers['stripe-signature'];
  const event =
    bytes.byteLength <= mostBytes && isSignedByStripe(signature, bytes, secrets, services.clock.now())
      ? eventOf(bytes)
      : undefined;
  if (!event) {
    services.log.info('payment_event_refused');
    return answer(400, { error: { code: 'signature_invalid' } });
  }
  const outcome = await tolerant(services, event);
  services.log.info('payment_event', { type: event.type, outcome: outcome?.kind });
  // Stripe repeats what was not answered with 200.
  const isDone = outcome !== undefined && outcome.kind !== 'later';
  return answer(isDone ? 200 : 503, { received: isDone });
}

/** Undefined: the bytes are no event of Stripe. */
function eventOf(bytes: Buffer): StripeEvent | undefined {
  try {
    return readEvent(readVendorJson(bytes.toString('utf8')));
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

async function tolerant(services: ReceiveServices, event: StripeEvent): Promise<Hinted | undefined> {
  try {
    const outcome = await followHint(services, event);
    noteOutcome(services, outcome);
    return outcome;
  } catch (error) {
    if (!(error instanceof Overloaded)) services.log.alarm('request_failed', { error: errorName(error) });
    return undefined;
  }
}

function answer(statusCode: number, body: object): APIGatewayProxyStructuredResultV2 {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { statusCode, headers, body: JSON.stringify(body) };
}
