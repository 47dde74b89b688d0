/** The AWS SDK's clients with the simulation in the place of the network: each HTTP exchange is one call at the world's door. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimits, tryMillis } from '../../adapters/call-limits.ts';
import type { FaultKind } from '../world/faults.ts';
import type { Input } from '../table/memory-table.ts';
import { Refused } from '../table/aws-refusal.ts';
import { conflictOf, type Ongoing } from '../world/effects.ts';
import type { World } from '../world/simulated-world.ts';

/** The other end of the wire: what each service does with a request. Throws Refused. */
export interface AwsEnds {
  readonly dynamodb: (
    operation: string,
    input: Input,
    fault: FaultKind | undefined,
  ) => object | Ongoing<object>;
  readonly states: (operation: string, input: Input) => object;
  readonly secretsmanager: (operation: string, input: Input) => object;
}

export interface AwsClients {
  readonly documents: DynamoDBDocumentClient;
  readonly states: SFNClient;
  readonly secrets: SecretsManagerClient;
}

/** As far as the SDK looks at an HTTP request and gives one's answer. */
export interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

interface HttpAnswer {
  readonly response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  };
}

/** Settings of the SDK's clients where a function stands in the place of the network. */
export const withoutNetwork = {
  region: 'us-east-1',
  endpoint: 'https://aws.test',
  credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' },
  // Nobody checks it here, and it is half of a call's cost.
  signer: { sign: <Request>(request: Request) => Promise.resolve(request) },
  // The default logger of the SDK is silent, and still given a filtered copy of each input and output.
  logger: {} as Required<DynamoDBClientConfig>['logger'],
};

/** Clients of one world: their token buckets and caches begin anew. */
export function createAwsClients(world: World, ends: AwsEnds): AwsClients {
  const handlerOf = (service: keyof AwsEnds): object => ({
    metadata: { handlerProtocol: 'http/1.1' },
    destroy: () => undefined,
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    handle: (request: HttpRequest, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) =>
      inTime(abortSignal, (signal) => exchange(world, ends, service, request, signal)),
  });
  const configOf = (service: keyof AwsEnds): object => ({
    ...withoutNetwork,
    maxAttempts: callLimits().maxAttempts,
    requestHandler: handlerOf(service),
  });
  return {
    documents: DynamoDBDocumentClient.from(new DynamoDBClient(configOf('dynamodb')), {
      marshallOptions: { removeUndefinedValues: true },
    }),
    states: new SFNClient(configOf('states')),
    secrets: new SecretsManagerClient(configOf('secretsmanager')),
  };
}

/** What the SDK's own handler throws, and its retry tries again. */
class RequestTimedOut extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ETIMEDOUT';
}

/** One exchange under the time limit of the product's clients, and under the signal of its caller. */
async function inTime(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const controller = new AbortController();
  const late = new RequestTimedOut('the request took too long');
  const timer = setTimeout(() => {
    controller.abort(late);
  }, tryMillis);
  const stop = (): void => {
    controller.abort();
  };
  if (outer?.aborted === true) stop();
  else outer?.addEventListener('abort', stop, { once: true });
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.reason === late ? late : error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}

function exchange(
  world: World,
  ends: AwsEnds,
  service: keyof AwsEnds,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return exchangeWith(request, (operation, input) =>
    world.call({ service, operation, target: targetOf(input), signal }, (fault) =>
      ends[service](operation, input, fault),
    ),
  );
}

/** One HTTP exchange: what `perform` answers, or refuses with Refused. */
export async function exchangeWith(
  request: HttpRequest,
  perform: (operation: string, input: Input) => Promise<object>,
): Promise<HttpAnswer> {
  const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
  const text = typeof request.body === 'string' ? request.body : new TextDecoder().decode(request.body);
  const input = JSON.parse(text) as Input;
  try {
    return answerOf(200, await perform(operation, input));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return refusalOf(operation, input, error);
  }
}

function refusalOf(operation: string, input: Input, error: Refused): HttpAnswer {
  // A transaction words a conflict as the reason of its cancellation.
  const { code, message, fields } =
    error.code === 'TransactionConflictException' && operation === 'TransactWriteItems'
      ? conflictOf((input['TransactItems'] as unknown[]).length)
      : error;
  return answerOf(code === 'InternalServerError' ? 500 : 400, {
    __type: `simulated#${code}`,
    message,
    ...fields,
  });
}

function answerOf(statusCode: number, body: object): HttpAnswer {
  return {
    response: {
      statusCode,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Buffer.from(JSON.stringify(body)),
    },
  };
}

interface WithKey {
  readonly Key?: { readonly sk?: { readonly S?: string } };
  readonly Item?: { readonly sk?: { readonly S?: string } };
  readonly UpdateExpression?: string;
}

/** What a request is about, so that two places of the code are two sites: the kinds of its items, and what an update sets. */
function targetOf(input: Input): string {
  const items = input['TransactItems'] as readonly Readonly<Record<string, WithKey>>[] | undefined;
  if (items) return items.map((item) => Object.values(item).map(kindOf).join('')).join('+');
  const one = input as WithKey;
  const batch = input['RequestItems'] as
    Readonly<Record<string, { Keys: { sk?: { S?: string } }[] }>> | undefined;
  // By its last key: what stays unprocessed is asked for again from the same place.
  if (batch)
    return Object.values(batch)
      .map(({ Keys }) => `…${kindOf({ Key: Keys.at(-1) ?? {} })}`)
      .join('+');
  if (one.UpdateExpression !== undefined)
    return `${kindOf(one)} ${one.UpdateExpression.split(/[=,]/)[0]?.trim() ?? ''}`;
  const index = input['IndexName'] as string | undefined;
  if (index !== undefined) return `${index}${input['Select'] === 'COUNT' ? ' count' : ''}`;
  return one.Key || one.Item ? kindOf(one) : '';
}

function kindOf({ Key, Item }: WithKey): string {
  return (Key?.sk?.S ?? Item?.sk?.S ?? '').split('#')[0] ?? '';
}
