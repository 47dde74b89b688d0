/** The headers of requests and answers. An answer's header that is not in this list is not documented. */
import * as z from 'zod';
import type { oas31 } from 'zod-openapi';

type Header = oas31.HeaderObject | oas31.ReferenceObject;

interface Documented {
  readonly name: string;
  readonly description: string;
  readonly schema: oas31.SchemaObject;
  readonly example?: string | number;
  /** Absent: the header is there on every answer that documents it. */
  readonly isOptional?: true;
}

const seconds = { type: 'integer', minimum: 1 } as const;
const requestId = {
  name: 'X-Request-Id',
  schema: { type: 'string', minLength: 1 },
  example: 'd6e445f1-b67f-4298-8ff8-80145535d469.a1B2c3D4e5.tp5tc0',
} as const;
const rateLimitPolicy = {
  name: 'RateLimit-Policy',
  schema: { type: 'string', pattern: '^"(get|post)";q=\\d+;w=\\d+$' },
  example: '"post";q=60;w=60',
} as const;
const rateLimit = {
  name: 'RateLimit',
  schema: { type: 'string', pattern: '^"(get|post)";r=\\d+;t=\\d+$' },
  example: '"post";r=58;t=11',
} as const;
const retryAfter = { name: 'Retry-After', schema: seconds, example: 2 } as const;

const limitOf = 'The limit of the account for requests of this kind: q requests in w seconds.';
const leftOf = 'r requests are left, and the next window begins in t seconds.';
const unknownAccount = 'Missing where the account was not known yet.';

const documented = {
  RequestId: { ...requestId, description: 'Name this id when you ask for help.' },
  RequestIdOfService: {
    ...requestId,
    description: 'Name this id when you ask for help. Missing on an answer of API Gateway.',
    isOptional: true,
  },
  RateLimitPolicy: { ...rateLimitPolicy, description: limitOf },
  RateLimitPolicyOfAccount: {
    ...rateLimitPolicy,
    description: `${limitOf} ${unknownAccount}`,
    isOptional: true,
  },
  RateLimit: { ...rateLimit, description: leftOf },
  RateLimitOfAccount: { ...rateLimit, description: `${leftOf} ${unknownAccount}`, isOptional: true },
  RetryAfter: { ...retryAfter, description: 'A good pace for polls, in seconds.' },
  RetryAfterWhileOpen: {
    ...retryAfter,
    description:
      'When the next poll makes sense, in seconds: 1 to 10, by the usual time of the provider. Only while the creation has not ended.',
    isOptional: true,
  },
  RetryAfterOfService: {
    ...retryAfter,
    description:
      'Wait at least so many seconds. Missing on an answer of API Gateway, and with `no_provider_enabled`.',
    isOptional: true,
  },
  ShouldRetry: {
    name: 'X-Should-Retry',
    description: 'Waiting does not help: somebody has to act first.',
    schema: { type: 'string', const: 'false' },
    isOptional: true,
  },
  Location: {
    name: 'Location',
    description: 'The path of the creation. Missing on a list.',
    schema: { type: 'string', pattern: '^/api/public/v1/creations/[0-9a-f-]{36}$' },
    isOptional: true,
  },
  Cost: {
    name: 'X-Darkroom-Cost',
    description: 'The price in USD.',
    schema: { type: 'number', minimum: 0 },
    example: 0.04,
  },
  IdempotentReplayed: {
    name: 'Idempotent-Replayed',
    description: 'An earlier request with the same Idempotency-Key made the creation.',
    schema: { type: 'string', const: 'true' },
    isOptional: true,
  },
  PreferenceApplied: {
    name: 'Preference-Applied',
    description: 'The answer was held for at most so many seconds, as `Prefer` asked.',
    schema: { type: 'string', pattern: '^wait=\\d+$' },
    example: 'wait=20',
    isOptional: true,
  },
  Authenticate: {
    name: 'WWW-Authenticate',
    description: 'API Gateway may rename it to `x-amzn-remapped-www-authenticate`. Do not depend on it.',
    schema: { type: 'string', enum: ['Bearer', 'Bearer error="invalid_token"'] },
    isOptional: true,
  },
  Allow: {
    name: 'Allow',
    description: 'The methods that the path takes. Missing when no operation has the path.',
    schema: { type: 'string' },
    example: 'POST',
    isOptional: true,
  },
  Deprecation: {
    name: 'Deprecation',
    description: 'Since when the model is deprecated (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$' },
    example: '@1798761600',
    isOptional: true,
  },
  Sunset: {
    name: 'Sunset',
    description: 'From when on the model is no longer available (RFC 8594).',
    schema: { type: 'string' },
    example: 'Thu, 01 Jul 2027 00:00:00 GMT',
    isOptional: true,
  },
  Link: {
    name: 'Link',
    description: 'With Deprecation: where the other models are.',
    schema: { type: 'string' },
    isOptional: true,
  },
} as const satisfies Readonly<Record<string, Documented>>;

export type HeaderName = keyof typeof documented;

/** `components.headers`. */
export const headerComponents: Record<string, Header> = Object.fromEntries(
  Object.entries<Documented>(documented).map(([component, header]) => [component, componentOf(header)]),
);

function componentOf({ description, schema, example, isOptional }: Documented): Header {
  return {
    description,
    ...(isOptional !== true && { required: true }),
    schema,
    ...(example !== undefined && { example }),
  };
}

export function headersOf(...names: readonly HeaderName[]): Record<string, Header> {
  return Object.fromEntries(
    names.map((component) => [documented[component].name, { $ref: `#/components/headers/${component}` }]),
  );
}

const printable = '[\\x20-\\x7e]{1,255}';

export const requestHeaders = {
  idempotencyKey: z
    .string()
    .regex(new RegExp(`^(${printable}|"${printable}")$`))
    .optional()
    .meta({
      description:
        'A text of your own for each image that you want, at most 255 printable ASCII characters. The same request with the same key never charges twice within 24 hours.',
      examples: ['order-4711'],
    }),
  prefer: z
    .string()
    .optional()
    .meta({
      description:
        '`wait=N` holds the answer until the creation has ended, or for N seconds, at most 20. An account may have only its share of the held requests; beyond it, the answer comes at once.',
      examples: ['wait=20'],
    }),
};

export function deliveryHeaders(kind: Readonly<Record<string, z.ZodType>>): z.ZodObject {
  const timestamp = z.string().regex(/^\d+$/);
  const hmac = z.string().regex(/^sha256=[0-9a-f]{64}$/);
  return z.object({
    ...kind,
    'User-Agent': z.literal('Darkroom-Webhooks/1'),
    'X-Webhook-Delivery-ID': z.uuid().meta({ description: 'New at each attempt.' }),
    'X-Webhook-Attempt': z
      .string()
      .regex(/^[1-5]$/)
      .meta({ description: 'The number of the attempt.' }),
    'X-Timestamp': timestamp.meta({ description: 'Unix seconds at which the attempt was signed.' }),
    'X-Webhook-Signature-256': hmac.meta({
      description: 'HMAC-SHA-256 of `X-Timestamp.body` under the whole secret.',
    }),
    'X-Webhook-Signature-256-Previous': hmac.optional().meta({
      description: 'The same under the secret before, in the 24 hours after a rotation.',
    }),
    'webhook-id': z.string().meta({ description: 'The same in every attempt. Deduplicate by it.' }),
    'webhook-timestamp': timestamp.meta({ description: 'The same as X-Timestamp.' }),
    'webhook-signature': z
      .string()
      .regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/)
      .meta({ description: 'Standard Webhooks: one value for each valid secret.' }),
  });
}
