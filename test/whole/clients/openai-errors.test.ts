/**
 * Every row of the table of errors as a class of the unmodified openai library, and how many requests the
 * library then sent: it must not repeat what cannot succeed.
 */
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  toFile,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ErrorCode, errorRows } from '../../../service/openai/refusal.ts';
import { thrownBy } from '../../client/stub.ts';
import { sharedTestService, type TestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';
import { type CustomerOptions, openaiCustomer, type OpenaiCustomer } from './openai-customer.ts';

let service: TestService;
beforeAll(async () => {
  service = await sharedTestService();
});
afterAll(() => service.end());

const model = 'sandbox-sketch';
const generate =
  (prompt: string, more: object = {}) =>
  async ({ openai }: OpenaiCustomer): Promise<unknown> =>
    openai.images.generate({ model, prompt, ...more });
const edit =
  (more: object, bytes = png(64, 64)) =>
  async ({ openai }: OpenaiCustomer): Promise<unknown> =>
    openai.images.edit({
      model: 'sandbox-standard',
      prompt: 'in winter',
      image: await toFile(bytes, 'a.png', { type: 'image/png' }),
      ...more,
    });

interface Row {
  readonly what: string;
  readonly wanted?: CustomerOptions;
  readonly before?: (customer: OpenaiCustomer) => Promise<unknown>;
  readonly call: (customer: OpenaiCustomer) => Promise<unknown>;
  readonly kind: new (...parts: never[]) => APIError;
  readonly code: ErrorCode;
  /** Of the error, beside its class and its code. */
  readonly says?: object;
  /** How many requests the library sends. */
  readonly requests: number;
  /** The wallet afterwards, in micro-dollars. The default is that nothing was paid. */
  readonly left?: number;
}

const once = { library: { maxRetries: 0 } } as const;
const inCondition = (condition: 'disabled' | 'suspended') => async (customer: OpenaiCustomer) =>
  service.operator.accounts.change(customer.account.id, { condition });

const rows: readonly Row[] = [
  {
    what: 'Too many pictures',
    call: generate('a lake', { n: 5 }),
    kind: BadRequestError,
    code: 'err_invalid_request',
    says: { param: 'n' },
    requests: 1,
  },
  {
    what: 'A transparent background',
    call: generate('a lake', { background: 'transparent' }),
    kind: BadRequestError,
    code: 'unsupported_value',
    says: { param: 'background' },
    requests: 1,
  },
  {
    what: 'A mask',
    call: async (customer) => edit({ mask: await toFile(png(64, 64), 'mask.png') })(customer),
    kind: BadRequestError,
    code: 'unsupported_parameter',
    says: { param: 'mask' },
    requests: 1,
  },
  {
    what: 'A declined prompt',
    call: generate('a lake [sandbox:reject-prompt]'),
    kind: BadRequestError,
    code: 'content_policy_violation',
    says: { type: 'invalid_request_error' },
    requests: 1,
  },
  {
    what: 'A declined source image',
    call: edit({ prompt: 'in winter [sandbox:reject-image]' }),
    kind: BadRequestError,
    code: 'invalid_image',
    requests: 1,
  },
  {
    what: 'A key that is none',
    wanted: { library: { apiKey: 'dk_live_nothing' } },
    call: generate('a lake'),
    kind: AuthenticationError,
    code: 'invalid_api_key',
    requests: 1,
  },
  {
    what: 'An empty wallet',
    wanted: { balance: '0.02' },
    call: generate('a lake', { n: 3 }),
    kind: APIError,
    code: 'insufficient_balance',
    says: { status: 402, type: 'insufficient_quota' },
    requests: 1,
    left: 20_000,
  },
  ...(['daily', 'monthly', 'total'] as const).map((cap) => ({
    what: `A used-up ${cap} cap of the key`,
    wanted: { [`${cap}Cap`]: '0.02' },
    call: generate('a lake', { n: 3 }),
    kind: APIError,
    code: `${cap}_budget_exceeded` as const,
    says: { status: 402, type: 'insufficient_quota' },
    requests: 1,
  })),
  {
    what: 'A used-up budget of a user',
    wanted: { perUserMonthlyCap: '0.005' },
    call: generate('a lake', { user: 'ada' }),
    kind: APIError,
    code: 'user_budget_exceeded',
    says: { status: 402 },
    requests: 1,
  },
  {
    what: 'A disabled account',
    before: inCondition('disabled'),
    call: generate('a lake'),
    kind: PermissionDeniedError,
    code: 'account_disabled',
    requests: 1,
  },
  {
    what: 'A suspended account',
    before: inCondition('suspended'),
    call: generate('a lake'),
    kind: PermissionDeniedError,
    code: 'api_suspended',
    requests: 1,
  },
  {
    what: 'A model that is not there',
    call: generate('a lake', { model: 'nothing' }),
    kind: NotFoundError,
    code: 'model_not_found',
    says: { param: 'model' },
    requests: 1,
  },
  {
    what: 'A path that is not there',
    call: async ({ openai }) => openai.moderations.create({ input: 'a lake' }),
    kind: NotFoundError,
    code: 'not_found',
    requests: 1,
  },
  {
    what: 'A body that is too large',
    call: edit({}, png(64, 64, 6_000_000)),
    kind: APIError,
    code: 'request_too_large',
    says: { status: 413 },
    requests: 1,
  },
  {
    what: 'A rate that is used up',
    wanted: { ...once, postRate: '0' },
    call: generate('a lake'),
    kind: RateLimitError,
    code: 'rate_limit_exceeded',
    requests: 1,
  },
  {
    what: 'Too many open creations',
    wanted: { ...once, maxConcurrent: '0' },
    call: generate('a lake'),
    kind: RateLimitError,
    code: 'rate_limit_exceeded',
    requests: 1,
  },
  {
    what: 'A failed render',
    call: generate('a lake [sandbox:fail]'),
    kind: InternalServerError,
    code: 'generation_failed',
    says: { status: 502 },
    requests: 3,
  },
  {
    what: 'A render that ends without a picture',
    call: generate('a lake [sandbox:empty]'),
    wanted: once,
    kind: InternalServerError,
    code: 'generation_failed',
    says: { status: 502 },
    requests: 1,
  },
  {
    what: 'A vendor that is away',
    wanted: once,
    call: generate('a lake [sandbox:down]'),
    kind: InternalServerError,
    code: 'provider_unavailable',
    says: { status: 503 },
    requests: 1,
  },
  {
    what: 'A render that takes longer than the deadline of the account',
    wanted: { ...once, deadline: '2' },
    call: generate('a lake [sandbox:hang]'),
    kind: InternalServerError,
    code: 'generation_timeout',
    says: { status: 504 },
    requests: 1,
  },
  {
    what: 'A render that is not ready when the library stops waiting',
    call: async ({ openai }) =>
      openai.images.generate(
        { model, prompt: 'a lake [sandbox:delay=60s]' },
        { timeout: 4_000, maxRetries: 0 },
      ),
    kind: InternalServerError,
    code: 'still_rendering',
    says: { status: 504 },
    requests: 1,
    left: 24_990_000,
  },
];

describe.concurrent('the table of errors in the openai library', () => {
  for (const { what, wanted, before, call, kind, code, says = {}, requests, left } of rows) {
    it(`${what} is told as ${code}`, async ({ expect: check }) => {
      const customer = await openaiCustomer(service, wanted);
      await before?.(customer);
      const error = (await thrownBy(call(customer))) as APIError;
      check(error).toBeInstanceOf(kind);
      check(error.constructor.name).toBe(kind.name);
      const { status, type, retry } = errorRows[code];
      check(error).toMatchObject({ code, status, type, ...says });
      check(customer.sent).toHaveLength(requests);
      check(error.headers?.get('x-should-retry')).toBe(String(retry));
      if (status === 429 || status === 503)
        check(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0);
      check((await service.account(customer.account.id)).availableMicros).toBe(left ?? 25_000_000);
    });
  }
});

it('A cancelled creation is told as cancelled, and is not rendered again', async () => {
  // A creation that never starts can still be cancelled.
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  const customer = await openaiCustomer(service);
  const thrown = thrownBy(generate('a lake')(customer));
  const { id } = await vi.waitUntil(async () => (await customer.creations())[0], 10_000);
  const cancelled = await service.send(`/creations/${id}/cancel`, { method: 'POST', key: customer.key });
  service.machine.faults.clear();
  expect(cancelled.status).toBe(200);
  const error = (await thrown) as APIError;
  expect(error).toBeInstanceOf(ConflictError);
  expect(error).toMatchObject({ code: 'cancelled', status: 409 });
  expect(error.headers?.get('x-should-retry')).toBe('false');
  expect(customer.sent).toHaveLength(1);
});

it('Every row of the table is tested, or is not the service in this state', () => {
  const elsewhere: readonly ErrorCode[] = [
    // Only the portal makes these.
    'conflict',
    'forbidden',
    // Faults of the service, and an address that this test must not block (test/openai).
    'address_blocked',
    'internal_error',
    'input_fetch_failed',
    'overloaded',
    'cancelled',
  ];
  const tested = rows.map(({ code }) => code);
  expect(new Set([...tested, ...elsewhere])).toEqual(new Set(Object.keys(errorRows)));
});
