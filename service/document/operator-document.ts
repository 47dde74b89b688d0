/** The document of the operator API: what service/contract/operator-operations.ts states, with bodies and answers. */
import * as z from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { conditions } from '../accounts/account.ts';
import { rollMillis } from '../accounts/key-changes.ts';
import { limitRanges, resultAccesses, resultMinutes } from '../contract/limits.ts';
import {
  type OperatorOperation,
  type OperatorOperationName,
  operatorOperations,
  operatorRoot,
} from '../contract/operator-operations.ts';
import { marginDimensions } from '../usage/margin.ts';
import { usageDimensions } from '../usage/usage.ts';
import { largestAvailableMicros, toUsd } from '../values/money.ts';
import { signFromSeconds } from '../webhooks/secrets.ts';
import { forGenerators, license } from './document.ts';
import { requestHeaders } from './headers.ts';
import { moment, noControlCharacter, usd } from './schemas/values.ts';

const orNull = <Schema extends z.ZodType>(schema: Schema): z.ZodNullable<Schema> => z.nullable(schema);
const text = (description: string): z.ZodString => z.string().meta({ description });
const version = text(
  'Changes with everything that a PATCH changes. Send it back to change only what you saw.',
);
const day = z.iso.date();
/** Not blank, too, and without overrides of the writing direction: a pattern that says so helps no reader. */
const shownText = (most: number): z.ZodString => z.string().min(1).max(most).regex(noControlCharacter);
const name = shownText(100);
const reference = shownText(200).meta({
  description: 'Counts once for the account, for all kinds of movements.',
});
const reason = shownText(500);
const most = toUsd(largestAvailableMicros);
const sixDecimals = { description: 'USD, with at most 6 decimals.' };
const amount = z.number().min(0).max(most).meta(sixDecimals);
const aboveZero = z.number().min(0.000001).max(most).meta(sixDecimals);
const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): [Key, ...Key[]] =>
  Object.keys(record) as [Key, ...Key[]];

const ofLimits = {
  post_rate: z.int().min(limitRanges.postRate[0]).max(limitRanges.postRate[1]),
  get_rate: z.int().min(limitRanges.getRate[0]).max(limitRanges.getRate[1]),
  user_post_rate: z.int().min(limitRanges.userPostRate[0]).max(limitRanges.userPostRate[1]),
  user_get_rate: z.int().min(limitRanges.userGetRate[0]).max(limitRanges.userGetRate[1]),
  max_concurrent: z.int().min(limitRanges.maxConcurrent[0]).max(limitRanges.maxConcurrent[1]),
  deadline: z.int().min(limitRanges.deadlineSeconds[0]).max(limitRanges.deadlineSeconds[1]),
  max_unused_uploads: z.int().min(limitRanges.maxUnusedUploads[0]).max(limitRanges.maxUnusedUploads[1]),
};
const shownLimits = z.object(ofLimits).meta({ id: 'Limits' });
const someLimits = z.strictObject(ofLimits).partial().meta({ id: 'SomeLimits' });
const externalId = shownText(64).meta({ description: 'Your own name for it, unique in the service.' });
const providers = z.union([z.literal('all'), z.array(z.string()).max(100)]);
const hiddenModels = z.array(z.string()).max(100);
const access = z.enum(resultAccesses).meta({
  description: 'Addresses of new results. null: as the service has it. 400 if the service cannot keep it.',
});
const accessMinutes = z
  .int()
  .min(resultMinutes.least)
  .max(resultMinutes.most)
  .meta({
    description: `How long a signed address opens its result. null: ${resultMinutes.usual}.`,
  });

const account = z
  .object({
    id: z.string(),
    external_id: orNull(z.string()),
    name: z.string(),
    condition: z.enum(conditions),
    available: usd('Balance and credit line.'),
    balance: z.number(),
    credit_line: z.number(),
    in_flight: z.int(),
    limits: shownLimits,
    providers: z.union([z.literal('all'), z.array(z.string())]),
    hidden_models: z.array(z.string()),
    webhook_secret_issued: z.boolean(),
    notice_url: orNull(z.string()),
    low_balance: orNull(z.number()),
    results: orNull(access),
    results_minutes: orNull(accessMinutes),
    created_at: z.iso.datetime(),
    version,
  })
  .meta({ id: 'Account' });

const keyFields = {
  daily_cap: orNull(z.number()),
  monthly_cap: orNull(z.number()),
  total_cap: orNull(z.number()),
  per_user_monthly_cap: orNull(z.number()),
  models: orNull(z.array(z.string())),
  expires_at: orNull(z.iso.datetime({ offset: true })),
};
const key = {
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  last4: orNull(z.string()),
  created_at: z.iso.datetime(),
  last_used_at: orNull(z.iso.datetime()),
  revoked_at: orNull(z.iso.datetime()),
  ...keyFields,
  spent_today: z.number(),
  spent_this_month: z.number(),
  spent_total: z.number(),
  version,
};
const accountKey = z.object(key).meta({ id: 'Key' });
const madeKey = z
  .object({
    ...key,
    key: orNull(z.string()).meta({ description: 'Its text, this once. null when the answer is a replay.' }),
    replaced_until: z.iso.datetime().optional(),
  })
  .meta({ id: 'MadeKey' });

const wallet = z
  .object({ available: z.number(), balance: z.number(), credit_line: z.number() })
  .meta({ id: 'Wallet' });
const applied = { already_applied: z.boolean().meta({ description: 'An earlier request made it.' }) };
const adjustedWallet = wallet.extend(applied).meta({ id: 'AdjustedWallet' });
const payment = {
  id: z.string(),
  account: z.string(),
  kind: z
    .enum(['outside', 'checkout', 'auto'])
    .meta({ description: 'outside: another payment system than Stripe took it.' }),
  state: z.enum(['open', 'succeeded', 'failed', 'expired', 'unknown', 'held']),
  amount: usd('What was credited, or is to be.'),
  reversed: usd('What was given back of it.'),
  reference: orNull(z.string()),
  source: orNull(z.string()),
  note: orNull(z.string()),
  at: z.iso.datetime(),
  by: orNull(text('The id of the operator key.')),
};
const shownPayment = z.object(payment).meta({ id: 'Payment' });
const madePayment = z.object({ ...payment, ...applied }).meta({ id: 'MadePayment' });

const ledgerRow = z
  .object({
    id: z.string(),
    kind: z.enum(['charge', 'refund', 'top_up', 'adjustment', 'credit_line', 'payment', 'payment_reversed']),
    amount: usd('The change of what the account can spend.'),
    at: z.iso.datetime(),
    creation: orNull(z.string()),
    key: orNull(z.string()),
    user: orNull(z.string()),
    reference: orNull(z.string()),
    reason: orNull(z.string()),
    payment: orNull(z.string()),
    by: orNull(text('The id of the operator key. null: a person or a command.')),
  })
  .meta({ id: 'LedgerRow' });

const secret = z
  .object({
    account: z.string(),
    secret: z.string(),
    issued_at: moment('When it was issued.'),
    signs_from: moment('From when it signs.'),
    signing_until_then: orNull(text('The secret that signs until then.')),
    replaced_valid_until: z.array(z.iso.datetime()),
  })
  .meta({ id: 'WebhookSecret' });

const usageFigures = z
  .object({
    creations: z.int(),
    completed: z.int(),
    failed: z.int(),
    charged: z.number(),
    refunded: z.number(),
    spent: z.number(),
  })
  .meta({ id: 'UsageFigures' });
const marginFigures = z
  .object({
    creations: z.int(),
    failed: z.int(),
    revenue: z.number(),
    provider_cost: z.number(),
    margin: z.number(),
    margin_percent: orNull(z.number()),
    cost_unknown: z.int(),
    revenue_cost_unknown: z.number(),
    unclear: z.int(),
    unclear_cost: z.number(),
    billed: z.int(),
    billed_cost: z.number(),
    billed_catalog_cost: z.number(),
    billed_difference: z.number(),
    billed_difference_percent: orNull(z.number()),
  })
  .meta({ id: 'MarginFigures' });
const group = { group: orNull(text('null: what names none.')) };
const usageRow = usageFigures.extend(group).meta({ id: 'UsageRow' });
const marginRow = marginFigures
  .extend({ ...group, name: orNull(text('By account: its name.')).optional() })
  .meta({ id: 'MarginRow' });
const figuresOf = (by: readonly [string, ...string[]], row: z.ZodType, total: z.ZodType) => ({
  from: day,
  to: day,
  by: z.enum(by),
  data: z.array(row),
  total,
});

const moneyIn = z.object({
  payments: usd('What payment systems took.'),
  top_ups: usd('What the operator entered.'),
  reversed: usd('What refunds and disputes took back.'),
});

const ofUsage = figuresOf(usageDimensions, usageRow, usageFigures);

const action = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    action: z.string(),
    target: orNull(z.string()),
    outcome: z.enum(['begun', 'done', 'refused']),
    note: orNull(z.string()),
    operator_key: orNull(z.object({ id: z.string(), name: z.string() })),
    person: orNull(z.string()),
  })
  .meta({ id: 'Action' });

const price = z
  .object({ resolution: z.string(), usd: z.number(), usd_per_input_image: z.number() })
  .meta({ id: 'Price' });
const model = z
  .object({
    id: z.string(),
    name: z.string(),
    prices: z.array(price),
    routes: z.array(
      z.object({
        provider: z.string(),
        resolutions: z.array(z.string()),
        enabled: z.boolean(),
        costs: orNull(z.array(price)),
      }),
    ),
    deprecated_at: orNull(z.string()),
    sunset_at: orNull(z.string()),
  })
  .meta({ id: 'Model' });
const provider = z
  .object({ name: z.string(), enabled: z.boolean(), paused_since: orNull(z.string()) })
  .meta({ id: 'Provider' });

const pageOf = (row: z.ZodType): z.ZodObject =>
  z
    .object({ data: z.array(row), has_more: z.boolean(), next_cursor: orNull(z.string()) })
    .meta({ id: `${row.meta()?.id ?? ''}Page` });
const listOf = (row: z.ZodType): z.ZodObject =>
  z.object({ data: z.array(row) }).meta({ id: `${row.meta()?.id ?? ''}List` });

const problem = z
  .object({
    error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
  })
  .meta({ id: 'Problem' });

interface Documented {
  readonly summary: string;
  readonly body?: z.ZodType;
  /** The answers that are no refusal. */
  readonly answers: Readonly<Partial<Record<200 | 201, z.ZodType>>>;
  readonly conflicts?: string;
}

const newAccount = z
  .strictObject({
    name,
    external_id: externalId.optional(),
    opening_balance: amount.optional(),
    credit_line: amount.optional(),
    limits: someLimits.optional(),
    providers: providers.optional(),
    hidden_models: hiddenModels.optional(),
    notice_url: z.string().optional(),
    low_balance: aboveZero.optional(),
    results: access.optional(),
    results_minutes: accessMinutes.optional(),
  })
  .meta({ id: 'NewAccount' });
const accountChange = z
  .strictObject({
    ...newAccount.omit({ opening_balance: true }).partial().shape,
    external_id: orNull(externalId).optional(),
    notice_url: orNull(z.string()).optional(),
    low_balance: orNull(aboveZero).optional(),
    results: orNull(access).optional(),
    results_minutes: orNull(accessMinutes).optional(),
    condition: z.enum(conditions).optional(),
    version: z.string().optional(),
  })
  .meta({ id: 'AccountChange' });
const newKeyFields = z
  .object({
    ...keyFields,
    daily_cap: orNull(amount),
    monthly_cap: orNull(amount),
    total_cap: orNull(amount),
    per_user_monthly_cap: orNull(amount),
    models: orNull(z.array(z.string()).min(1).max(100)),
  })
  .partial().shape;
const capExceeded = 'credit_cap_exceeded';
const meanwhile = 'changed_meanwhile';

const documented: Readonly<Record<OperatorOperationName, Documented>> = {
  listAccounts: { summary: 'List the accounts, the oldest first', answers: { 200: pageOf(account) } },
  openAccount: {
    summary: 'Open an account',
    body: newAccount,
    answers: { 201: account },
    conflicts: `external_id_taken, ${capExceeded}`,
  },
  getAccount: { summary: 'Read an account', answers: { 200: account } },
  changeAccount: {
    summary: 'Change an account. null removes a value',
    body: accountChange,
    answers: { 200: account },
    conflicts: `${meanwhile}, external_id_taken, ${capExceeded}`,
  },
  listKeys: { summary: 'List the API keys of an account', answers: { 200: pageOf(accountKey) } },
  getKey: { summary: 'Read an API key', answers: { 200: accountKey } },
  createKey: {
    summary: 'Make an API key. Only this answer has its text',
    body: z.strictObject({ name, ...newKeyFields }).meta({ id: 'NewKey' }),
    answers: { 201: madeKey },
  },
  changeKey: {
    summary: 'Change an API key. null removes a limit',
    body: z
      .strictObject({ name: name.optional(), ...newKeyFields, version: z.string().optional() })
      .meta({ id: 'KeyChange' }),
    answers: { 200: accountKey },
    conflicts: `${meanwhile}, key_revoked`,
  },
  rollKey: {
    summary: 'Make a key like this one, and end this one',
    body: z.strictObject({ ends_in: z.enum(keysOf(rollMillis)) }).meta({ id: 'KeyRoll' }),
    answers: { 201: madeKey },
    conflicts: `${meanwhile}, key_revoked`,
  },
  revokeKey: { summary: 'Revoke an API key, from its next request on', answers: { 200: accountKey } },
  getWallet: { summary: 'Read the balance', answers: { 200: wallet } },
  listLedger: { summary: 'List the movements, the oldest first', answers: { 200: pageOf(ledgerRow) } },
  listPayments: { summary: 'List the payments, the newest first', answers: { 200: pageOf(shownPayment) } },
  getPayment: { summary: 'Read a payment', answers: { 200: shownPayment } },
  createPayment: {
    summary: 'Credit what a payment system took, once for each reference',
    body: z
      .strictObject({
        amount: aboveZero,
        reference,
        source: name.optional().meta({ description: 'The payment system, such as "adyen".' }),
        note: reason.optional(),
      })
      .meta({ id: 'NewPayment' }),
    answers: { 200: madePayment, 201: madePayment },
    conflicts: `reference_taken, ${capExceeded}`,
  },
  reversePayment: {
    summary: 'Take back what went back to the payer. Without an amount: what is left of the payment',
    body: z.strictObject({ reference, reason, amount: aboveZero.optional() }).meta({ id: 'NewReversal' }),
    answers: { 200: madePayment, 201: madePayment },
    conflicts: 'reference_taken, managed_by_stripe',
  },
  adjustWallet: {
    summary: 'Add to the balance, or take from it',
    body: z
      .strictObject({
        amount: z.number().min(-most).max(most).meta({
          description: 'USD, with at most 6 decimals. Not 0; below 0 it is taken from the balance.',
        }),
        reference,
        reason,
        allow_negative: z.boolean().optional(),
      })
      .meta({ id: 'NewAdjustment' }),
    answers: { 200: adjustedWallet, 201: adjustedWallet },
    conflicts: `reference_taken, below_zero, ${capExceeded}`,
  },
  getWebhookSecret: {
    summary: 'Read the webhook secret',
    answers: { 200: secret },
    conflicts: 'secret_lost',
  },
  issueWebhookSecret: {
    summary: 'Issue the webhook secret, unless the account has one',
    answers: { 200: secret, 201: secret },
    conflicts: `${meanwhile}, secret_lost`,
  },
  rotateWebhookSecret: {
    summary: 'Replace the webhook secret. The replaced one verifies for 24 h more',
    body: z
      .strictObject({ sign_from: z.enum(keysOf(signFromSeconds)).optional() })
      .meta({ id: 'SecretRotation' }),
    answers: { 201: secret },
    conflicts: `${meanwhile}, secret_lost`,
  },
  getUsage: {
    summary: 'What an account used, by day, key, model or user',
    answers: { 200: z.object({ account: z.string(), ...ofUsage }).meta({ id: 'Usage' }) },
  },
  reportUsage: {
    summary: 'What all accounts used, for at most 31 days',
    answers: { 200: z.object(ofUsage).meta({ id: 'UsageReport' }) },
  },
  reportMargin: {
    summary: 'Revenue, costs and margin, for at most 31 days',
    answers: {
      200: z
        .object({ ...figuresOf(marginDimensions, marginRow, marginFigures), money_in: moneyIn })
        .meta({ id: 'MarginReport' }),
    },
  },
  listModels: {
    summary: 'The catalog, with prices and costs',
    answers: { 200: listOf(model) },
  },
  listProviders: {
    summary: 'The providers, and whether they are enabled',
    answers: { 200: listOf(provider) },
  },
  listActions: {
    summary: 'What people and operator keys did, the newest first',
    answers: { 200: pageOf(action) },
  },
};

const queries: Readonly<Record<string, z.ZodType>> = {
  limit: z.int().min(1).max(100).optional(),
  cursor: z.string().min(1).optional().meta({ description: 'The `next_cursor` of the answer before.' }),
  from: day.optional(),
  to: day.optional(),
  account: z
    .string()
    .regex(/^[0-9A-Za-z]{10}$/)
    .optional(),
  external_id: z.string().min(1).optional(),
  condition: z.enum(conditions).optional(),
};

const idempotencyKey = requestHeaders.idempotencyKey.meta({
  description:
    'A text of your own, at most 255 printable ASCII characters. The same request with the same key is made once within 24 hours.',
  examples: ['order-4711'],
});

function queryOf(operation: OperatorOperationName, parameter: string): z.ZodType {
  if (parameter === 'by')
    return z.enum(operation === 'reportMargin' ? marginDimensions : usageDimensions).optional();
  return queries[parameter] ?? z.string();
}

/** A header of answers. One that is not required stands only on some answers of its status. */
const headers = {
  RequestId: ['X-Request-Id', true, { type: 'string' }],
  RateLimitPolicy: ['RateLimit-Policy', false, { type: 'string', pattern: '^"(get|post)";q=\\d+;w=\\d+$' }],
  RateLimit: ['RateLimit', false, { type: 'string', pattern: '^"(get|post)";r=\\d+;t=\\d+$' }],
  RetryAfter: ['Retry-After', true, { type: 'integer', minimum: 1 }],
  Replayed: ['Idempotent-Replayed', false, { type: 'string', const: 'true' }],
  Challenge: ['WWW-Authenticate', true, { type: 'string', const: 'Bearer' }],
  Allow: ['Allow', false, { type: 'string' }],
} as const;
type HeaderName = keyof typeof headers;

function response(description: string, schema: z.ZodType, more: readonly HeaderName[] = []) {
  const all: readonly HeaderName[] = ['RequestId', 'RateLimitPolicy', 'RateLimit', ...more];
  return {
    description,
    headers: Object.fromEntries(
      all.map((name) => [headers[name][0], { $ref: `#/components/headers/${name}` }]),
    ),
    content: { 'application/json': { schema } },
  };
}

const refusals = {
  400: ['Invalid', 'ERR_INVALID_REQUEST: details.errors names each wrong field.', []],
  401: ['NoKey', 'ERR_API_KEY_INVALID: no key, or a wrong, revoked or expired one.', ['Challenge']],
  403: ['Forbidden', 'ERR_FORBIDDEN: scope_missing, or address_not_allowed.', []],
  404: ['NotFound', 'ERR_NOT_FOUND: the same for an absent id and a malformed one.', ['Allow']],
  409: ['Conflict', 'ERR_CONFLICT: details.reason says which.', []],
  429: ['TooMany', 'ERR_RATE_LIMIT account_rate or burst_block; ERR_QUOTA_EXCEEDED.', ['RetryAfter']],
  500: ['Internal', 'ERR_INTERNAL: send a change again, with its reference or Idempotency-Key.', []],
  503: ['Overloaded', 'ERR_PROVIDER_UNAVAILABLE overloaded: nothing was changed.', ['RetryAfter']],
} as const;

function operationOf(name: OperatorOperationName): ZodOpenApiOperationObject {
  const { method, path, scope, query }: OperatorOperation = operatorOperations[name];
  const { summary, body, answers, conflicts } = documented[name];
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = '']) => [place, z.string()]);
  return {
    operationId: name,
    summary,
    description: `Needs the scope \`${scope}\`.${conflicts === undefined ? '' : ` Conflicts: ${conflicts}.`}`,
    requestParams: {
      ...(places.length > 0 && { path: z.object(Object.fromEntries(places) as Record<string, z.ZodType>) }),
      ...(query.length > 0 && {
        query: z.object(Object.fromEntries(query.map((one) => [one, queryOf(name, one)]))),
      }),
      ...(method === 'POST' && { header: z.object({ 'Idempotency-Key': idempotencyKey }) }),
    },
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, schema]) => [
          status,
          response(
            status === '201' ? 'Made.' : 'As it is now.',
            schema,
            method === 'POST' ? ['Replayed'] : [],
          ),
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(refusals).flatMap(([status, [component]]) =>
          status === '409' && conflicts === undefined
            ? []
            : [[status, { $ref: `#/components/responses/${component}` }]],
        ),
      ),
    },
  };
}

/** The beginning of the reference page. */
const introduction = [
  'For the back end of an operator: it opens accounts, makes API keys, credits payments and reads usage.',
  'Send a key of the command `operator-keys create` as `Authorization: Bearer dk_op_…`, and only from a server. Each operation names the scope that it needs.',
  'A POST with the same `Idempotency-Key` is made once within 24 hours. A `reference` names one movement of money for ever.',
].join('\n\n');

export function operatorDocumentText(): string {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const name of Object.keys(operatorOperations) as OperatorOperationName[]) {
    const { method, path } = operatorOperations[name];
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(name) };
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: { title: 'Darkroom: the operator API', version: 'v1', description: introduction, license },
      servers: [{ url: operatorRoot }],
      security: [{ operatorKey: [] }],
      paths,
      components: {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, [, required, schema]]) => [name, { required, schema }]),
        ),
        responses: Object.fromEntries(
          Object.values(refusals).map(([name, description, more]) => [
            name,
            response(description, problem, more),
          ]),
        ),
        securitySchemes: {
          operatorKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`Authorization: Bearer dk_op_…`, of the command `operator-keys create`.',
          },
        },
      },
    },
    {
      // Answers may get more fields, so their objects stay open.
      override: ({ jsonSchema, zodSchema, io }) => {
        const { def } = zodSchema._zod;
        if (io === 'output' && def.type === 'object' && !('catchall' in def && def.catchall))
          delete jsonSchema.additionalProperties;
      },
    },
  );
  return `${JSON.stringify(document, forGenerators, 2)}\n`;
}
