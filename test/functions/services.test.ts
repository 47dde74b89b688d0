/** What each function is made of: its services, from the environment, and the ids in its log. */
import {
  GetCommand,
  ScanCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { creationToItem } from '../../adapters/dynamodb/mapping.ts';
import { handler as auditBooks } from '../../functions/schedule/audit-books.ts';
import { handler as reconcile } from '../../functions/schedule/reconcile.ts';
import { apiServices, catalogServices, quoteServices } from '../../functions/services/api.ts';
import { auditServices } from '../../functions/services/audit.ts';
import { deliveryServices } from '../../functions/services/delivery.ts';
import { reconcileServices } from '../../functions/services/reconcile.ts';
import { refundServices } from '../../functions/services/refund.ts';
import { renderServices } from '../../functions/services/render.ts';
import { submitServices } from '../../functions/services/submit.ts';
import { handler as deliverWebhook } from '../../functions/workflow/deliver-webhook.ts';
import { handler as refundCharge } from '../../functions/workflow/refund-charge.ts';
import { handler as renderImage } from '../../functions/workflow/render-image.ts';
import { accountId, aCreation, creationId } from '../fixtures/records.ts';
import { dynamo, mockAws } from './api-fixture.ts';
import { rejection } from './fakes.ts';
import { jsonObject, textLike } from '../fixtures/values.ts';

mockAws();

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
    ['refund-charge', refundServices],
    ['deliver-webhook', deliveryServices],
    ['reconcile', reconcileServices],
    ['audit-books', auditServices],
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
    expect(await auditBooks({}, context)).toEqual({ accounts: 0, creations: 0, differences: 0 });
    expect(lines).toMatchObject([{ event: 'books_audited', requestId: 'invocation-1' }]);
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

  it('The services hold the settings of the deployment', () => {
    const services = submitServices()();
    expect(services).toMatchObject({
      resultsBaseUrl: 'https://results.test',
      topUpUrl: 'https://portal.test/wallet',
      outboundRules: 'public',
      authFailureForm: 'envelope',
    });
    expect(services.catalog.models.length).toBeGreaterThan(4);
    expect(quoteServices()()).toMatchObject({ outboundRules: 'public', catalog: services.catalog });
    expect(catalogServices()().catalog).toBe(services.catalog);
  });

  it('The services cannot be opened without a required setting', () => {
    vi.stubEnv('TOP_UP_URL', undefined);
    expect(() => submitServices()).toThrow('the environment variable TOP_UP_URL is not set');
  });

  it('The random bytes have the length that was asked for and differ each time', () => {
    const { randomBytes } = apiServices()();
    const [first, second] = [randomBytes(24), randomBytes(24)];
    expect([first.byteLength, second.byteLength]).toEqual([24, 24]);
    expect(first).not.toEqual(second);
  });
});

describe('the services of the renderer', () => {
  it('The renderer has every provider under its own name, and the days that a result is kept', () => {
    vi.stubEnv('RESULT_DAYS', '7');
    const { providers, resultDays } = renderServices();
    const names = ['sandbox', 'sandbox-large', 'bedrock', 'openai', 'google', 'bfl', 'fal', 'replicate'];
    expect([...providers.keys()]).toEqual(names);
    expect([...providers.values()].map(({ name }) => name)).toEqual(names);
    expect(resultDays).toBe(7);
  });
});

describe('the services of webhooks', () => {
  it('The delivery of webhooks has the address of the results', () => {
    expect(deliveryServices().resultsBaseUrl).toBe('https://results.test');
  });
});
