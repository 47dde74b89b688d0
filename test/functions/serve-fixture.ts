/** The API's frame over fakes of the ports: an account that may do everything, and what became of each request. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Catalog } from '../../core/catalog.ts';
import { requestMillis } from '../../core/limits.ts';
import type { ChargeOrder, ChargeOutcome, ChargeStore } from '../../core/ports/charges.ts';
import type { Executions } from '../../core/ports/executions.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { RequestStore } from '../../core/ports/requests.ts';
import { startBudget } from '../../core/time-budget.ts';
import { generateImage } from '../../functions/operations/generate-image.ts';
import { serve, type ApiHandler } from '../../functions/http/serve.ts';
import type { SubmitServices } from '../../functions/services/submit.ts';
import { anAccount, anApiKey, apiKeyText, now, seededBytes } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub, type FakeClock, type FakeLog } from './fakes.ts';

interface Setting
  extends Partial<Pick<Outbound, 'check' | 'fetchSource'>>, Partial<Pick<RequestStore, 'countRequest'>> {
  /** Unix milliseconds of the arrival. */
  readonly startAt?: number;
  readonly outcome?: ChargeOutcome;
  /** Whether the rate's window has room when it is asked. */
  readonly hasRoom?: boolean;
}

export interface Stage {
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly open: () => SubmitServices;
  readonly orders: readonly ChargeOrder[];
  readonly started: readonly string[];
  readonly fetched: readonly string[];
  /** How often a request was counted by an update of its own. */
  readonly counted: number;
}

/** Services that accept everything, but for what the test says. */
export function accepting({
  startAt = now,
  outcome = { kind: 'charged' },
  hasRoom = true,
  check,
  fetchSource,
  countRequest,
}: Setting): Stage {
  const clock = fakeClock(startAt);
  const log = fakeLog();
  const orders: ChargeOrder[] = [];
  const started: string[] = [];
  const fetched: string[] = [];
  let counted = 0;
  const requests = stub<RequestStore>({
    read: async () =>
      Promise.resolve({
        account: anAccount(),
        apiKey: anApiKey(),
        rateCount: 0,
        openCreations: 0,
        enabledProviders: [],
      }),
    countRequest: async (...given) => {
      counted += 1;
      return countRequest ? countRequest(...given) : Promise.resolve(hasRoom);
    },
    noteKeyUse: async () => Promise.resolve(),
  });
  const base = {
    clock,
    log,
    randomBytes: seededBytes,
    requests,
    catalog: models as Catalog,
    charges: stub<ChargeStore>({
      charge: async (order) => {
        orders.push(order);
        return Promise.resolve(outcome);
      },
    }),
    executions: stub<Executions>({
      start: async (id) => {
        started.push(id);
        return Promise.resolve('started');
      },
    }),
    outbound: stub<Outbound>({
      ...(check && { check }),
      ...(fetchSource && {
        fetchSource: async (url, signal) => {
          fetched.push(url);
          return fetchSource(url, signal);
        },
      }),
    }),
    images: stub<ImageStore>({ put: async () => Promise.resolve() }),
    topUpUrl: 'https://portal.test/wallet',
    resultsBaseUrl: 'https://results.test',
    authFailureForm: 'envelope' as const,
  };
  return {
    clock,
    log,
    orders,
    started,
    fetched,
    get counted() {
      return counted;
    },
    open: () => stub<SubmitServices>({ ...base, budget: startBudget(clock, requestMillis) }),
  };
}

interface Answered {
  readonly status: number | undefined;
  readonly headers: APIGatewayProxyStructuredResultV2['headers'];
  readonly body: unknown;
}

/** One request to POST /images/generate, or to another handler over the same services. */
export async function post(
  stage: Stage,
  body: unknown,
  other: { handler?: ApiHandler; method?: 'GET' | 'POST' } = {},
): Promise<Answered> {
  const { handler = serve('post', generateImage, stage.open), method = 'POST' } = other;
  const event = {
    rawPath: '/api/public/v1/images/generate',
    headers: { authorization: `Bearer ${apiKeyText}`, 'content-type': 'application/json' },
    requestContext: {
      requestId: 'request-1',
      domainName: 'api.test',
      http: { method, path: '', sourceIp: '203.0.113.7' },
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEventV2;
  const result = await handler(event, {} as Context);
  return { status: result.statusCode, headers: result.headers, body: JSON.parse(result.body ?? 'null') };
}
