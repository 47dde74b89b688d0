/** Mocks of the AWS clients, for tests of what an entry asks of AWS. */

import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as auditBooks } from '../../functions/audit-books.ts';
import { handler as deliverWebhook } from '../../functions/deliver-webhook.ts';
import { handler as reconcile } from '../../functions/reconcile.ts';
import { handler as refundCharge } from '../../functions/refund-charge.ts';
import { handler as renderImage } from '../../functions/render-image.ts';
import { openApi } from '../../service/api/open.ts';
import { openAudit } from '../../service/audit/open.ts';
import { providers as knownProviders } from '../../service/catalog/providers.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { openRefund } from '../../service/creations/open-refund.ts';
import { openSubmit } from '../../service/generate/open.ts';
import { base } from '../../service/platform/lambda-base.ts';
import * as lambda from '../../service/platform/lambda.ts';
import { openEraseContent } from '../../service/erase/open.ts';
import { openReconcile } from '../../service/reconcile/open.ts';
import { openCallback, openRender } from '../../service/render/open.ts';
import { openDelivery } from '../../service/webhooks/open.ts';
import { rejection } from '../api/fakes.ts';
import { accountId, aCreation, anApiKey, creationId, keyId } from '../fixtures/records.ts';
import { jsonObject, textLike } from '../fixtures/values.ts';

let dynamo: ReturnType<typeof mockDynamo>;

const mockDynamo = () => mockClient(DynamoDBDocumentClient);

/**
 * Mocks the AWS clients for one test file. The files that run later in the same process get the real clients
 * again.
 */
function mockAws(): void {
  let stateMachine: { reset(): void; restore(): void };
  beforeAll(() => {
    dynamo = mockDynamo();
    stateMachine = mockClient(SFNClient);
  });
  beforeEach(() => {
    dynamo.reset();
    stateMachine.reset();
  });
  afterAll(() => {
    dynamo.restore();
    stateMachine.restore();
  });
}

/** The services that each function gets from its environment, and the ids in its log. */
mockAws();

/** The parts of Lambda that the functions of this file share. */
const parts = () => ({
  ...base(),
  dynamodb: lambda.dynamodb(),
  states: lambda.states(),
  images: lambda.images,
  thumbnails: lambda.thumbnails,
  measures: lambda.measures,
  outbound: lambda.outbound(),
  secretBox: lambda.secretBox(),
  catalog: lambda.catalog,
});
const apiServices = () => openApi(parts());
const submitServices = () => openSubmit(parts());
const renderServices = () =>
  openRender({ ...parts(), ...lambda.allVendors(), providerCosts: lambda.providerCosts });
const callbackServices = () => openCallback({ ...parts(), vendors: lambda.callingVendors() });
const deliveryServices = () => openDelivery(parts());

const context = { awsRequestId: 'invocation-1' } as Context;
const payload = { creation_id: creationId };

/** The lines of the log of a test. */
let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(jsonObject(String(line)));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('the log of a function', () => {
  it.each([
    ['api', () => apiServices()()],
    ['api', () => submitServices()()],
    ['render-image', renderServices],
    ['receive-callback', callbackServices],
    ['refund-charge', () => openRefund(parts())],
    ['deliver-webhook', deliveryServices],
    ['reconcile', () => openReconcile(parts())],
    ['audit-books', () => openAudit(parts())],
    ['erase-content', () => openEraseContent(parts())],
  ])(
    'The log of %s names its component, and its metrics have the namespace of the deployment',
    (component, open) => {
      open().log.alarm('start_refused');
      expect(lines).toMatchObject([
        {
          at: textLike(/^20\d\d-/),
          component,
          _aws: { CloudWatchMetrics: [{ Namespace: 'Darkroom' }] },
        },
      ]);
    },
  );

  it('Each log line of RenderImage names the invocation', async () => {
    const creation = aCreation({
      routes: [{ provider: 'nobody', providerModel: 'm' }],
      deadlineAt: Date.now() + 300_000,
    });
    dynamo.on(UpdateCommand).resolves({ Attributes: creationToItem(creation) });
    dynamo.on(GetCommand).resolves({});
    dynamo.on(BatchGetCommand).resolves({});
    expect(await rejection(renderImage(payload, context))).toMatchObject({ name: 'ServiceUnavailable' });
    expect(lines).toMatchObject([{ event: 'provider_answered', requestId: 'invocation-1', creationId }]);
  });

  it('Each log line of RefundCharge names the invocation', async () => {
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation()) });
    dynamo.on(TransactWriteCommand).resolves({});
    expect(await refundCharge(payload, context)).toEqual(payload);
    expect(lines).toMatchObject([{ event: 'creation_failed', requestId: 'invocation-1', accountId }]);
  });

  it('Each log line of DeliverWebhook names the invocation', async () => {
    dynamo.on(GetCommand).rejects(new TypeError('details'));
    expect(await rejection(deliverWebhook(payload, context))).toMatchObject({ name: 'TypeError' });
    expect(lines).toMatchObject([
      { event: 'webhook_delivery_broke', requestId: 'invocation-1', creationId, error: 'TypeError' },
    ]);
  });

  it('Each log line of the reconciler names the invocation', async () => {
    await reconcile({ detail: { status: 'FAILED' } }, context);
    expect(lines).toMatchObject([{ event: 'reconcile_event_ignored', requestId: 'invocation-1' }]);
  });

  it('Each log line of the audit names the invocation', async () => {
    dynamo.on(ScanCommand).resolves({ Items: [] });
    dynamo.on(QueryCommand).resolves({ Items: [] });
    dynamo.on(GetCommand).resolves({});
    dynamo.on(PutCommand).resolves({});
    const timed = { ...context, getRemainingTimeInMillis: () => 900_000 };
    expect(await auditBooks({}, timed)).toMatchObject({ accounts: 0, differences: 0, isFinished: true });
    expect(lines).toMatchObject([
      { event: 'books_audit_part', requestId: 'invocation-1' },
      { event: 'books_audited', requestId: 'invocation-1' },
    ]);
  });
});

describe('the services of a request', () => {
  it('The budget is 26 s, counted from the moment when the services are opened', () => {
    const { budget } = apiServices()();
    expect(budget.left()).toBeGreaterThan(25_000);
    expect(budget.left()).toBeLessThanOrEqual(26_000);
    expect(budget.signal.aborted).toBe(false);
    budget.end();
  });

  it.each([
    ['plain', 'plain'],
    ['envelope', 'envelope'],
    ['', 'envelope'],
  ])('The setting %j answers a failed authentication in the form %s', (setting, form) => {
    vi.stubEnv('AUTH_FAILURE_FORM', setting);
    expect(apiServices()().authFailureForm).toBe(form);
  });

  it('The services cannot be opened without a required setting', () => {
    vi.stubEnv('TOP_UP_URL', undefined);
    expect(() => submitServices()).toThrow('the environment variable TOP_UP_URL is not set');
  });
});

describe('the services of the renderer', () => {
  it('The renderer has every provider under its own name, and the days that a result is kept', async () => {
    vi.stubEnv('RESULT_DAYS', '7');
    const { providers, resultDays } = renderServices();
    const names = Object.keys(knownProviders);
    const found = await Promise.all(names.map(async (name) => providers.get(name)));
    expect(found.map((provider) => provider?.name)).toEqual(names);
    dynamo.on(GetCommand).resolves({});
    expect([await providers.get('nobody'), await providers.get('constructor')]).toEqual([
      undefined,
      undefined,
    ]);
    // The first name reads the operator's catalog, and a name that this catalog lacks reads once more.
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(2);
    expect(resultDays).toBe(7);
  });

  it.each([
    ['https://api.test', 'https://api.test'],
    ['', undefined],
  ])('The address of callbacks %j is understood as %s', (value, address) => {
    vi.stubEnv('CALLBACK_BASE_URL', value);
    expect(renderServices().callbackBaseUrl).toBe(address);
  });
});

describe('the services of callbacks', () => {
  it('The function of callbacks has only the providers that call back', async () => {
    vi.stubEnv('RESULT_DAYS', '7');
    const { providers, resultDays } = callbackServices();
    const found = await Promise.all(Object.keys(knownProviders).map(async (name) => providers.get(name)));
    expect(found.flatMap((provider) => provider?.name ?? [])).toEqual(['fal', 'replicate']);
    expect(resultDays).toBe(7);
  });
});

describe('the bucket of the images', () => {
  it('A read ends with the time of the request', async () => {
    const services = submitServices()();
    services.budget.end();
    expect(await rejection(services.images.get('sources/a.png'))).toMatchObject({ name: 'Overloaded' });
  });
});

describe('the calls to DynamoDB', () => {
  it('A read and a charge get the signal that ends with the time of the request, and the count of a start has a time of its own', async () => {
    dynamo.on(UpdateCommand).resolves({});
    dynamo.on(TransactWriteCommand).resolves({});
    const services = submitServices()();
    await services.requests.noteKeyUse(accountId, keyId, '2026-11-21T12:00:00.000Z');
    await services.charges.charge({
      creations: [aCreation()],
      apiKey: anApiKey(),
      maxConcurrent: 10,
      nowMillis: Date.now(),
    });
    await services.charges.countStart(creationId);
    const signals = dynamo
      .calls()
      .map(({ args }) => (args.at(1) as { abortSignal?: AbortSignal }).abortSignal);
    expect(signals.map((signal) => signal === services.budget.signal)).toEqual([true, true, false]);
    expect(signals[2]).toBeInstanceOf(AbortSignal);
  });

  it('A conflict of a charge is logged with the id of its creation', async () => {
    const conflict = new TransactionCanceledException({
      message: 'Transaction cancelled',
      $metadata: {},
      CancellationReasons: [{ Code: 'TransactionConflict' }],
    });
    dynamo.on(TransactWriteCommand).rejectsOnce(conflict).resolves({});
    await submitServices()().charges.charge({
      creations: [aCreation()],
      apiKey: anApiKey(),
      maxConcurrent: 10,
      nowMillis: Date.now(),
    });
    expect(lines).toMatchObject([{ level: 'info', event: 'charge_conflict', creationId }]);
  });
});
