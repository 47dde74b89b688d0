/** The API's frame over fakes of the ports. The account may do everything unless a test says otherwise. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { Account, ApiKey } from '../../service/accounts/account.ts';
import type { ApiHandler } from '../../service/api/framed.ts';
import type { ListServices } from '../../service/api/open.ts';
import type { RefusalLog } from '../../service/api/refusal-store.ts';
import type { RequestQuestion, RequestState, RequestStore } from '../../service/api/request-store.ts';
import { type Handle, serve } from '../../service/api/serve.ts';
import { requestMillis } from '../../service/contract/limits.ts';
import type { ChargeOrder, ChargeOutcome } from '../../service/creations/charge.ts';
import type { ChargeStore } from '../../service/creations/charge-store.ts';
import type { StoredImage } from '../../service/creations/creation.ts';
import type { Executions } from '../../service/creations/executions.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import { generateImage } from '../../service/generate/generate-image.ts';
import type { SubmitServices } from '../../service/generate/open.ts';
import type { Outbound } from '../../service/outbound/outbound.ts';
import { schema } from '../../service/values/runtime.ts';
import { startBudget } from '../../service/values/time.ts';
import { catalog } from '../catalog/catalog-fixture.ts';
import { anAccount, anApiKey, apiKeyText, now, seededBytes } from '../fixtures/records.ts';
import { fakeClock, type FakeClock, fakeLog, type FakeLog, fakePlaces, stub } from './fakes.ts';
import { resultsOfTests } from '../fixtures/records.ts';

interface Setting
  extends Partial<Pick<Outbound, 'check' | 'fetchSource'>>, Partial<Pick<RequestStore, 'countRequest'>> {
  /** Unix milliseconds of the arrival. */
  readonly startAt?: number;
  /** How each charge ends, one after the other. The last outcome stays. */
  readonly outcome?: ChargeOutcome | readonly ChargeOutcome[];
  /** Whether the rate window has room when a request is counted. */
  readonly hasRoom?: boolean;
  /** null: the table does not have it. */
  readonly account?: Partial<Account> | null;
  readonly apiKey?: Partial<ApiKey> | null;
  /** What the first read says besides account and key. */
  readonly state?: Partial<RequestState>;
  readonly requests?: Partial<RequestStore>;
  /** Services that replace those of the fixture. */
  readonly services?: Partial<StageServices>;
}

/** The services of every operation that these tests call. */
export type StageServices = SubmitServices & ListServices;

export interface Stage {
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly open: () => StageServices;
  readonly questions: readonly RequestQuestion[];
  readonly orders: readonly ChargeOrder[];
  readonly started: readonly string[];
  readonly fetched: readonly string[];
  readonly stored: readonly StoredImage[];
  /** The arguments of each call that counted a rejected authentication. */
  readonly rejections: readonly unknown[];
  /** The arguments of each call that noted the use of the key. */
  readonly keyUses: readonly unknown[];
  /** The arguments of each call that noted a refusal in the log of the account. */
  readonly refusals: readonly Parameters<RefusalLog['note']>[];
  /** How often a request was counted by a single update. */
  readonly counted: number;
}

/** Services that accept every request, apart from what the test sets. */
export function accepting(setting: Setting): Stage {
  const { startAt = now, hasRoom = true, account, apiKey, check, fetchSource, countRequest } = setting;
  const clock = fakeClock(startAt);
  const log = fakeLog();
  const outcomes: readonly ChargeOutcome[] = [setting.outcome ?? { kind: 'charged' }].flat();
  const questions: RequestQuestion[] = [];
  const orders: ChargeOrder[] = [];
  const started: string[] = [];
  const fetched: string[] = [];
  const stored: StoredImage[] = [];
  const rejections: unknown[] = [];
  const keyUses: unknown[] = [];
  const refusals: Parameters<RefusalLog['note']>[] = [];
  let counted = 0;
  const requests = stub<RequestStore>({
    read: async (question) => {
      questions.push(question);
      return Promise.resolve({
        ...(account !== null && { account: anAccount(account) }),
        ...(apiKey !== null && { apiKey: anApiKey(apiKey) }),
        rateCount: 0,
        openCreations: 0,
        enabledProviders: [],
        ...setting.state,
      });
    },
    countRequest: async (...given) => {
      counted += 1;
      return countRequest ? countRequest(...given) : Promise.resolve(hasRoom);
    },
    countRejection: async (...given) => Promise.resolve(void rejections.push(given)),
    noteKeyUse: async (...given) => Promise.resolve(void keyUses.push(given)),
    ...setting.requests,
  });
  const base = {
    clock,
    log,
    schema,
    randomBytes: seededBytes,
    requests,
    refusals: { note: async (...given) => Promise.resolve(void refusals.push(given)) } satisfies RefusalLog,
    catalog,
    charges: stub<ChargeStore>({
      countStart: () => Promise.resolve(),
      charge: async (order) => {
        orders.push(order);
        const outcome = outcomes[orders.length - 1] ?? outcomes.at(-1);
        return Promise.resolve(outcome ?? { kind: 'charged' });
      },
    }),
    executions: stub<Executions>({
      start: async ({ id }) => {
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
    outboundRules: 'public' as const,
    images: stub<ImageStore>({ put: async (image) => Promise.resolve(void stored.push(image)) }),
    held: fakePlaces(),
    topUpUrl: 'https://portal.test/wallet',
    topUpState: () => Promise.resolve(undefined),
    serviceCapacity: 2_000,
    signedMinutesOf: () => undefined,
    // The last bits of the byte that seededBytes gives.
    results: resultsOfTests,
    authFailureForm: 'envelope' as const,
    ...setting.services,
  };
  return {
    clock,
    log,
    questions,
    orders,
    started,
    fetched,
    stored,
    rejections,
    keyUses,
    refusals,
    get counted() {
      return counted;
    },
    open: () => stub<StageServices>({ ...base, budget: startBudget(clock, requestMillis) }),
  };
}

interface Answered {
  readonly status: number | undefined;
  readonly headers: APIGatewayProxyStructuredResultV2['headers'];
  readonly body: unknown;
}

/** What a test changes of a request. */
export interface Sending {
  readonly handler?: ApiHandler;
  /** An operation of the test's own inside the API's frame. */
  readonly handle?: Handle<StageServices>;
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  /** The {id} of the path. */
  readonly pathId?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Bytes instead of the JSON body; the gateway sends them in Base64. */
  readonly bytes?: Uint8Array;
  readonly sourceIp?: string;
  readonly context?: Partial<Context>;
}

export const bearer = { authorization: `Bearer ${apiKeyText}` };

/** One request to POST /images/generate, or to another handler over the same services. */
export async function post(stage: Stage, body: unknown, sending: Sending = {}): Promise<Answered> {
  const { method = 'POST', path = '/api/public/v1/images/generate', bytes } = sending;
  const rate = method === 'GET' ? 'get' : 'post';
  const handler = sending.handler ?? serve(rate, sending.handle ?? generateImage, stage.open);
  const event = {
    rawPath: path,
    headers: sending.headers ?? { ...bearer, 'content-type': 'application/json' },
    requestContext: {
      requestId: 'request-1',
      timeEpoch: 1_795_780_800_000,
      domainName: 'api.test',
      http: { method, path, sourceIp: sending.sourceIp ?? '203.0.113.7' },
    },
    ...(sending.pathId !== undefined && { pathParameters: { id: sending.pathId } }),
    ...(sending.query && { queryStringParameters: sending.query }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(bytes && { body: Buffer.from(bytes).toString('base64') }),
    isBase64Encoded: bytes !== undefined,
  } as unknown as APIGatewayProxyEventV2;
  const result = await handler(event, { ...sending.context } as Context);
  return { status: result.statusCode, headers: result.headers, body: JSON.parse(result.body ?? 'null') };
}
