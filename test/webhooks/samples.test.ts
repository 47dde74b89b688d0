import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import * as schemas from '../../service/document/schemas/webhooks.ts';
import { type EndpointEvent, endpointEvents } from '../../service/webhooks/endpoint.ts';
import { sampleBody } from '../../service/webhooks/samples.ts';

const at = '2026-11-21T12:00:30.999Z';

/** What the document says of each event. */
const documented: Readonly<Record<EndpointEvent, z.ZodObject>> = {
  'creation.completed': schemas.creationCompleted,
  'creation.failed': schemas.creationFailed,
  'wallet.low': schemas.walletLow,
  'wallet.empty': schemas.walletEmpty,
  'key.cap_reached': schemas.keyCapReached,
  'budget.reached': schemas.budgetReached,
  'webhook.failing': schemas.webhookFailing,
  'endpoint.failing': schemas.endpointFailing,
  'endpoint.disabled': schemas.endpointDisabled,
  'payment.received': schemas.paymentReceived,
  'payment.failed': schemas.paymentFailed,
  'payment.reversed': schemas.paymentReversed,
};

describe('The sample of', () => {
  it.each(endpointEvents)('%s has the members that the document names, and no other', (event) => {
    const body = JSON.parse(sampleBody(event, at)) as Record<string, unknown>;
    expect(documented[event].strict().parse(body)).toEqual(body);
    expect(body['event'] ?? body['notice']).toBe(event);
    expect(body['id']).toMatch(/^(ntc_)?00000000-0000-0000-0000-000000000000$/);
  });

  it('creation.completed has the bytes that earlier releases sent: their tests are still in the log', () => {
    expect(sampleBody('creation.completed', at)).toBe(
      `{"event":"creation.completed","id":"00000000-0000-0000-0000-000000000000","status":"completed","result_urls":[],"cost":0,"metadata":{"test":"true"},"created_at":"${at}","completed_at":"${at}"}`,
    );
  });

  it('endpoint.failing names the endpoint to which it is sent, four days after its first failure', () => {
    const endpoint = { id: 'we_4nUc0Za7BpQ3xT', url: 'https://a.test/hook' };
    expect(JSON.parse(sampleBody('endpoint.failing', at, endpoint))).toMatchObject({
      endpoint: { ...endpoint, failing_since: '2026-11-17T12:00:30.999Z' },
    });
  });
});
