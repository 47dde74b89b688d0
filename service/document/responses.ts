/** The responses of an operation, by status. What every operation can answer is added to each. */
import * as z from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import type { OperationName, operations } from '../contract/operations.ts';
import { problemStatus } from '../values/problem.ts';
import { type HeaderName, headersOf } from './headers.ts';
import type { TagName } from './introduction.ts';
import { gatewayAnswer, type Refusal, type RefusalName, refusals } from './schemas/refusals.ts';
import { type ExampleName, examplesOf } from './schemas/values.ts';

type Status = 200 | 201 | 202 | 204 | (typeof problemStatus)[keyof typeof problemStatus] | 413;

export type Success = {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
} & (
  | {
      readonly status: 200 | 201 | 202;
      readonly schema: z.ZodType;
      readonly examples: readonly ExampleName[];
    }
  /** An answer without a body. */
  | { readonly status: 204 }
);

interface Answers {
  readonly successes: readonly Success[];
  /** The refusals that the operation makes, beside those that every operation makes. */
  readonly refusals?: readonly RefusalName[];
  readonly examples?: Readonly<Partial<Record<Status, readonly ExampleName[]>>>;
  readonly concernsModel?: boolean;
  readonly takesBody?: boolean;
}

const always = ['RequestId', 'RateLimitPolicy', 'RateLimit'] as const satisfies readonly HeaderName[];
const ofModel = ['Deprecation', 'Sunset', 'Link'] as const satisfies readonly HeaderName[];
const ifKnown = ['RateLimitPolicyOfAccount', 'RateLimitOfAccount'] as const satisfies readonly HeaderName[];

const refusalHeaders: Readonly<Partial<Record<Status, readonly HeaderName[]>>> = {
  401: ['RequestId', ...ifKnown, 'Authenticate'],
  413: ['RequestIdOfService'],
  429: ['RequestIdOfService', ...ifKnown, 'RetryAfterOfService', 'ShouldRetry'],
  500: ['RequestIdOfService', ...ifKnown],
  502: [...always, 'ShouldRetry'],
  503: ['RequestIdOfService', ...ifKnown, 'RetryAfterOfService', 'ShouldRetry'],
};

const gatewayWords: Readonly<Partial<Record<Status, string>>> = {
  413: 'The body has more than 10 MB.',
  429: 'The throttle of the gateway was reached.',
  500: 'A function could not be run, or died.',
  503: 'There was no answer within 30 s.',
};

const plainForm =
  'A deployment may be set to a plain form of this answer, `{"detail":"…"}` with the reason as its text; then `authentication_required` says that neither header was sent.';

const everywhere = [
  'invalidFields',
  'keyRefused',
  'accountDisabled',
  'apiSuspended',
  'tokenRefused',
  'rateUsedUp',
  'addressBlocked',
  'internal',
  'overloaded',
] as const satisfies readonly RefusalName[];

/** Responses that are the same in every operation. Each is a component. */
const shared: Readonly<Partial<Record<Status, ZodOpenApiResponseObject>>> = {
  401: { id: 'KeyRefused', ...refusalResponse(401, ['keyRefused'], ['key-missing']) },
  403: {
    id: 'AccountRefused',
    ...refusalResponse(403, ['accountDisabled', 'apiSuspended', 'tokenRefused'], []),
  },
  413: { id: 'BodyTooLarge', ...refusalResponse(413, [], []) },
  500: { id: 'InternalError', ...refusalResponse(500, ['internal'], []) },
};

/** The answer to every request that no operation takes. No operation has it, so it is a component alone. */
export const unknownRoute: ZodOpenApiResponseObject = {
  description:
    '`ERR_NOT_FOUND`: no operation has this path, or the operation does not take this method. Then `Allow` names the methods.',
  headers: headersOf(...always, 'Allow'),
  content: { 'application/json': { schema: refusals.notFound.schema } },
};

export function responsesOf(answers: Answers): ZodOpenApiResponsesObject {
  const names = [...everywhere, ...(answers.refusals ?? [])];
  const refused = [...new Set(names.map((name) => problemStatus[refusals[name].code]))];
  const statuses: Status[] = [...refused, ...(answers.takesBody === true ? ([413] as const) : [])];
  const refusing = statuses.toSorted().map((status): [string, ZodOpenApiResponseObject] => {
    const ofStatus = names.filter((name) => problemStatus[refusals[name].code] === status);
    return [String(status), shared[status] ?? refusalResponse(status, ofStatus, [], answers)];
  });
  const succeeding = answers.successes.map((success): [string, ZodOpenApiResponseObject] => [
    String(success.status),
    successResponse(success, answers),
  ]);
  return Object.fromEntries([...succeeding, ...refusing]);
}

function successResponse(success: Success, { concernsModel }: Answers): ZodOpenApiResponseObject {
  const { description, headers = [] } = success;
  return {
    description,
    headers: headersOf(...always, ...headers, ...(concernsModel === true ? ofModel : [])),
    ...(success.status !== 204 && {
      content: { 'application/json': { schema: success.schema, ...named(success.examples) } },
    }),
  };
}

function refusalResponse(
  status: Status,
  names: readonly RefusalName[],
  shown: readonly ExampleName[],
  { concernsModel, examples }: Pick<Answers, 'concernsModel' | 'examples'> = {},
): ZodOpenApiResponseObject {
  const gateway = gatewayWords[status];
  const schemas: readonly z.ZodType[] = [
    ...names.map((name) => refusals[name].schema),
    ...(gateway === undefined ? [] : [gatewayAnswer]),
  ];
  const isOfModel = concernsModel === true && [400, 404, 503].includes(status);
  return {
    description: [
      ...names.map((name) => words(refusals[name])),
      ...(gateway === undefined ? [] : [`- API Gateway: ${gateway}`]),
      ...(status === 401 || status === 403 ? ['', plainForm] : []),
    ].join('\n'),
    headers: headersOf(...(refusalHeaders[status] ?? always), ...(isOfModel ? ofModel : [])),
    content: {
      'application/json': { schema: oneSchema(schemas), ...named([...shown, ...(examples?.[status] ?? [])]) },
    },
  };
}

function words({ code, reasons, when }: Refusal): string {
  const reasoned = reasons.length === 0 ? '' : ` (${reasons.map((reason) => `\`${reason}\``).join(', ')})`;
  return `- \`${code}\`${reasoned}: ${when}`;
}

function oneSchema(schemas: readonly z.ZodType[]): z.ZodType {
  const [first, ...others] = schemas;
  if (!first) throw new Error('a response without a schema');
  return others.length === 0 ? first : z.union([first, ...others]);
}

function named(names: readonly ExampleName[]): { examples?: Record<string, { readonly value: unknown }> } {
  const examples = examplesOf(...names);
  return examples ? { examples } : {};
}

/** What the document says of one operation, beside method and path, which service/contract/operations.ts says. */
export interface Documentation {
  readonly tag: TagName;
  /** Of the {id} in the path. Absent: the id of a creation. */
  readonly id?: z.ZodType;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  readonly query: Readonly<Record<string, z.ZodType>>;
  readonly headers?: Readonly<Record<string, z.ZodType>>;
  readonly body?: {
    readonly schema: z.ZodType;
    /** By name. The service accepts each (test/docs/api-examples.test.ts). */
    readonly examples: Readonly<Record<string, object>>;
  };
  readonly answers: Answers;
}

/** The documentation of an operation has exactly the query parameters of the contract. */
export interface Documented<Name extends OperationName> extends Documentation {
  readonly query: { readonly [Parameter in (typeof operations)[Name]['query'][number]]: z.ZodType };
}
