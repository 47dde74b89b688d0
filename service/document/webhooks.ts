/** What the service sends: events of creations, and notices. */
import * as z from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { type NoticeType, noticeTypes } from '../notices/notice.ts';
import type { EndpointEvent } from '../webhooks/endpoint.ts';
import { sampleBody } from '../webhooks/samples.ts';
import { endedEvents } from '../webhooks/webhook.ts';
import { deliveryHeaders } from './headers.ts';
import { type ExampleName, examplesOf } from './schemas/values.ts';
import {
  budgetReached,
  creationCompleted,
  creationFailed,
  endpointDisabled,
  endpointFailing,
  keyCapReached,
  paymentFailed,
  paymentReceived,
  paymentReversed,
  walletEmpty,
  walletLow,
  webhookFailing,
} from './schemas/webhooks.ts';

interface Sent {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly examples: readonly ExampleName[];
}

const ofCreation =
  'Sent to the `webhook_url` of the request, or else to the endpoints that ask for it, of accounts that have a signing secret. The same event can arrive more than once: recognise it by `webhook-id`.';
const toAccount = (often: string): string =>
  `Sent to the address for notices of the account and to the endpoints that ask for it, once for each ${often}. The same notice can arrive more than once: recognise it by \`webhook-id\`. Verify it like an event of a creation.`;
const ofAccount = toAccount('crossing');
const ofPayment = toAccount('such change of a payment');

const events: Readonly<Record<'creation.completed' | 'creation.failed', Sent>> = {
  'creation.completed': {
    operationId: 'creationCompleted',
    summary: 'A creation has its images',
    description: ofCreation,
    schema: creationCompleted,
    examples: ['webhook'],
  },
  'creation.failed': {
    operationId: 'creationFailed',
    summary: 'A creation failed',
    description: ofCreation,
    schema: creationFailed,
    examples: ['webhook-of-a-failure'],
  },
};

const notices: Readonly<Record<NoticeType, Sent>> = {
  'wallet.low': {
    operationId: 'walletLow',
    summary: 'The balance is below its threshold',
    description: ofAccount,
    schema: walletLow,
    examples: [],
  },
  'wallet.empty': {
    operationId: 'walletEmpty',
    summary: 'The balance is used up',
    description: ofAccount,
    schema: walletEmpty,
    examples: [],
  },
  'key.cap_reached': {
    operationId: 'keyCapReached',
    summary: 'A key has reached one of its caps',
    description: ofAccount,
    schema: keyCapReached,
    examples: ['notice'],
  },
  'webhook.failing': {
    operationId: 'webhookFailing',
    summary: 'Webhooks fail in a row',
    description: ofAccount,
    schema: webhookFailing,
    examples: [],
  },
  'endpoint.failing': {
    operationId: 'endpointFailing',
    summary: 'Every attempt of an endpoint has failed for four days',
    description: ofAccount,
    schema: endpointFailing,
    examples: [],
  },
  'endpoint.disabled': {
    operationId: 'endpointDisabled',
    summary: 'An endpoint was switched off after five days of failures',
    description: ofAccount,
    schema: endpointDisabled,
    examples: [],
  },
  'budget.reached': {
    operationId: 'budgetReached',
    summary: 'The account has spent most or all of its budget of a month',
    description: ofAccount,
    schema: budgetReached,
    examples: [],
  },
  'payment.received': {
    operationId: 'paymentReceived',
    summary: 'A payment came in',
    description: ofPayment,
    schema: paymentReceived,
    examples: [],
  },
  'payment.failed': {
    operationId: 'paymentFailed',
    summary: 'An automatic top-up took no money',
    description: ofPayment,
    schema: paymentFailed,
    examples: [],
  },
  'payment.reversed': {
    operationId: 'paymentReversed',
    summary: 'A refund or a dispute has changed what a payment credited',
    description: ofPayment,
    schema: paymentReversed,
    examples: [],
  },
};

/** The moment of the samples in the document. */
const sampledAt = '2026-11-21T15:03:47.326Z';

/** `webhooks` of the document. */
export function webhooks(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries([
    ...endedEvents.map((name) => ofKind('X-Webhook-Event', name, events[name])),
    ...noticeTypes.map((name) => ofKind('X-Darkroom-Notice', name, notices[name])),
  ]);
}

/** @param header the header whose value is the name */
function ofKind(
  header: string,
  name: EndpointEvent,
  { operationId, summary, description, schema, examples }: Sent,
): [name: string, ZodOpenApiPathItemObject] {
  const shown = {
    ...examplesOf(...examples),
    sample: { value: JSON.parse(sampleBody(name, sampledAt)) as unknown },
  };
  const post = {
    operationId,
    tags: ['Deliveries'],
    summary,
    description,
    // The signature replaces the API key.
    security: [],
    requestParams: { header: deliveryHeaders({ [header]: z.literal(name) }) },
    requestBody: {
      required: true,
      content: { 'application/json': { schema, examples: shown } },
    },
    responses: {
      '2XX': { description: 'Delivered. Answer within 10 s.' },
      '410': { description: 'Not delivered, and not sent again.' },
      default: { description: 'Not delivered. It is sent again, five times in all.' },
    },
  };
  return [name, { post }];
}
