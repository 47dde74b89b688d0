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
import { afterAll, describe, expect, it, vi } from 'vitest';
import { failures } from '../../../service/contract/failures.ts';
import { type ErrorCode, errorRows } from '../../../service/openai/refusal.ts';
import { thrownBy } from '../../client/stub.ts';
import { sharedTestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';
import { type CustomerOptions, openaiCustomer, type OpenaiCustomer } from './openai-customer.ts';

const service = await sharedTestService();
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
  /** Where the refusal knows better than its row of the table whether a repetition makes sense. */
  readonly retry?: boolean;
  /** How many requests the library sends. */
  readonly requests: number;
  /** The wallet afterwards, in micro-dollars. The default is that nothing was paid. */
  readonly left?: number;
}

const once = { library: { maxRetries: 0 } } as const;
const inCondition = (condition: 'disabled' | 'suspended') => async (customer: OpenaiCustomer) =>
  service.operator.accounts.change(customer.account.id, { condition });

const row = (
  what: string,
  kind: Row['kind'],
  code: ErrorCode,
  call: Row['call'],
  more: Partial<Row> = {},
): Row => ({ what, kind, code, call, requests: 1, ...more });

const rows: readonly Row[] = [
  row('Too many pictures', BadRequestError, 'err_invalid_request', generate('a lake', { n: 5 }), {
    says: { param: 'n' },
  }),
  row(
    'A transparent background',
    BadRequestError,
    'unsupported_value',
    generate('a lake', { background: 'transparent' }),
    { says: { param: 'background' } },
  ),
  row(
    'A mask for a model that takes none',
    BadRequestError,
    'unsupported_parameter',
    async (customer) => edit({ model: 'gpt-image-2', mask: await toFile(png(64, 64), 'mask.png') })(customer),
    { says: { param: 'mask' } },
  ),
  row(
    'A declined prompt',
    BadRequestError,
    'content_policy_violation',
    generate('a lake [sandbox:reject-prompt]'),
    {
      says: {
        type: 'invalid_request_error',
        message: `400 Your request was rejected as a result of the safety system. ${failures.PromptRejected.message}`,
      },
    },
  ),
  row(
    'A declined source image',
    BadRequestError,
    'invalid_image',
    edit({ prompt: 'in winter [sandbox:reject-image]' }),
  ),
  row('A key that is none', AuthenticationError, 'invalid_api_key', generate('a lake'), {
    wanted: { library: { apiKey: 'dk_live_nothing' } },
    says: { message: '401 Incorrect API key provided. The API key is not recognised.' },
  }),
  row('An empty wallet', APIError, 'insufficient_balance', generate('a lake', { n: 3 }), {
    wanted: { balance: '0.02' },
    says: { status: 402, type: 'insufficient_quota' },
    left: 20_000,
  }),
  ...(['daily', 'monthly', 'total'] as const).map((cap) => ({
    what: `A used-up ${cap} cap of the key`,
    wanted: { [`${cap}Cap`]: '0.02' },
    call: generate('a lake', { n: 3 }),
    kind: APIError,
    code: `${cap}_budget_exceeded` as const,
    says: { status: 402, type: 'insufficient_quota' },
    requests: 1,
  })),
  row('A used-up budget of a user', APIError, 'user_budget_exceeded', generate('a lake', { user: 'ada' }), {
    wanted: { perUserMonthlyCap: '0.005' },
    says: { status: 402 },
  }),
  row('A disabled account', PermissionDeniedError, 'account_disabled', generate('a lake'), {
    before: inCondition('disabled'),
  }),
  row('A suspended account', PermissionDeniedError, 'api_suspended', generate('a lake'), {
    before: inCondition('suspended'),
  }),
  row(
    'A model that is not there',
    NotFoundError,
    'model_not_found',
    generate('a lake', { model: 'nothing' }),
    { says: { param: 'model' } },
  ),
  row('A path that is not there', NotFoundError, 'not_found', async ({ openai }) =>
    openai.moderations.create({ input: 'a lake' }),
  ),
  row('A body that is too large', APIError, 'request_too_large', edit({}, png(64, 64, 6_000_000)), {
    says: { status: 413 },
  }),
  row('Too many open creations', RateLimitError, 'rate_limit_exceeded', generate('a lake'), {
    wanted: { ...once, maxConcurrent: '1' },
    before: async ({ key }) =>
      service.send('/images/generate', { key, body: { model, prompt: 'a lake [sandbox:delay=60s]' } }),
    left: 24_990_000,
  }),
  row(
    'A rate of 0, which waiting does not change',
    RateLimitError,
    'rate_limit_exceeded',
    generate('a lake'),
    {
      wanted: { postRate: '0' },
      retry: false,
    },
  ),
  row('A failed render', InternalServerError, 'generation_failed', generate('a lake [sandbox:fail]'), {
    says: { status: 502 },
    requests: 3,
  }),
  row(
    'A render that ends without a picture',
    InternalServerError,
    'generation_failed',
    generate('a lake [sandbox:empty]'),
    { wanted: once, says: { status: 502 } },
  ),
  row(
    'A vendor that is away',
    InternalServerError,
    'provider_unavailable',
    generate('a lake [sandbox:down]'),
    { wanted: once, says: { status: 503 } },
  ),
  row(
    'A render that takes longer than the deadline of the account',
    InternalServerError,
    'generation_timeout',
    generate('a lake [sandbox:hang]'),
    { wanted: { ...once, deadline: '2' }, says: { status: 504 } },
  ),
  row(
    'A render that is not ready when the library stops waiting',
    InternalServerError,
    'still_rendering',
    async ({ openai }) =>
      openai.images.generate(
        { model, prompt: 'a lake [sandbox:delay=60s]' },
        { timeout: 4_000, maxRetries: 0 },
      ),
    { says: { status: 504 }, left: 24_990_000 },
  ),
];

describe.concurrent('the table of errors in the openai library', () => {
  for (const { what, wanted, before, call, kind, code, says = {}, requests, left, ...own } of rows) {
    it(`${what} is reported as ${code}`, async ({ expect: check }) => {
      const customer = await openaiCustomer(service, wanted);
      await before?.(customer);
      const error = (await thrownBy(call(customer))) as APIError;
      check(error).toBeInstanceOf(kind);
      check(error.constructor.name).toBe(kind.name);
      const { status, type, retry } = errorRows[code];
      check(error).toMatchObject({ code, status, type, ...says });
      check(customer.sent).toHaveLength(requests);
      check(error.headers?.get('x-should-retry')).toBe(String(own.retry ?? retry));
      if (status === 429 || status === 503)
        check(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0);
      check((await service.account(customer.account.id)).availableMicros).toBe(left ?? 25_000_000);
    });
  }
});

it('A cancelled creation is reported as cancelled, and is not rendered again', async () => {
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

it('A model without an enabled provider is asked for once, and the error names the models that are available', async () => {
  const customer = await openaiCustomer(service);
  await service.operator.accounts.change(customer.account.id, { providers: ['sandbox-large'] });
  const error = (await thrownBy(generate('a lake')(customer))) as APIError;
  expect(error).toMatchObject({ code: 'provider_unavailable', status: 503 });
  expect(error.message).toContain('Available models: sandbox-pro, sandbox-panorama.');
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
