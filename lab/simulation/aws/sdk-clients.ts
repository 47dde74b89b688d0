/** The AWS SDK's own clients. Each HTTP exchange of them is one call at the world's door. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimits, tryMillis } from '../../../service/aws/call-limits.ts';
import type { Ongoing } from '../world/effects.ts';
import type { FaultKind } from '../world/faults.ts';
import type { World } from '../world/simulated-world.ts';
import { exchangeWith, type HttpAnswer, type HttpRequest, withoutNetwork } from './http-exchange.ts';
import { type Input, targetOf } from './table-request.ts';

/** What each simulated service does with a request. Throws AwsError when the service refuses it. */
export interface AwsEndpoints {
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

/**
 * The functions have the same settings. Without them, each client would search the environment and configuration
 * files.
 */
const defaults = {
  retryMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  accountIdEndpointMode: 'preferred',
};

/** Creates new clients for one world, so that their token buckets and caches start empty. */
export function createAwsClients(world: World, endpoints: AwsEndpoints): AwsClients {
  const handlerOf = (service: keyof AwsEndpoints): object => ({
    metadata: { handlerProtocol: 'http/1.1' },
    destroy: () => undefined,
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    handle: (request: HttpRequest, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) =>
      withinTryLimit(abortSignal, (signal) =>
        exchangeWith(request, (operation, input) =>
          world.call({ service, operation, target: targetOf(input), signal }, (fault) =>
            endpoints[service](operation, input, fault),
          ),
        ),
      ),
  });
  const configOf = (service: keyof AwsEndpoints): object => ({
    ...withoutNetwork,
    ...defaults,
    maxAttempts: callLimits().maxAttempts,
    requestHandler: handlerOf(service),
  });
  return {
    documents: DynamoDBDocumentClient.from(withoutBytes(lean(new DynamoDBClient(configOf('dynamodb')))), {
      marshallOptions: { removeUndefinedValues: true },
    }),
    states: lean(new SFNClient(configOf('states'))),
    secrets: lean(new SecretsManagerClient(configOf('secretsmanager'))),
  };
}

/** The error that the SDK's own request handler throws after a time-out. The SDK retries it. */
class RequestTimedOut extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ETIMEDOUT';
}

/**
 * Runs one exchange within the time limit of one try, which the product sets, and under the signal of the
 * caller.
 */
async function withinTryLimit(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new RequestTimedOut('the request took too long'));
  }, tryMillis);
  const stop = (): void => {
    controller.abort();
  };
  if (outer?.aborted === true) stop();
  else outer?.addEventListener('abort', stop, { once: true });
  try {
    return await work(controller.signal);
  } catch (error) {
    const reason: unknown = controller.signal.reason;
    throw reason instanceof RequestTimedOut ? reason : error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}

/** The parts of a stack of middleware of the SDK that this file changes. */
interface Stack {
  readonly remove: (name: string) => boolean;
  concat: (other: never) => Stack;
}

/** How a client of the SDK writes requests and reads answers. */
interface Protocol {
  serializeRequest: (schema: { readonly name: string }, input: object) => Promise<object>;
  deserializeResponse: (schema: object, context: object, response: Answer) => Promise<object>;
}

interface Answer {
  readonly statusCode: number;
  readonly body: object;
}

/** The parts of a client of the SDK that this file changes. */
interface Client {
  readonly config: object;
  readonly middlewareStack: object;
}

/**
 * Middleware that only writes headers that are not read here, or that signs or logs. What serializes,
 * retries and deserializes stays.
 */
const withoutMeaning = [
  'contentLengthMiddleware',
  'getUserAgentMiddleware',
  'hostHeaderMiddleware',
  'httpAuthSchemeMiddleware',
  'httpSigningMiddleware',
  'loggerMiddleware',
  'recursionDetectionMiddleware',
] as const;

/** Takes the middleware without meaning out of a client, and makes its settings quick to copy. */
function lean<Lean extends Client>(client: Lean): Lean {
  const stack = client.middlewareStack as Stack;
  for (const name of withoutMeaning)
    if (!stack.remove(name)) throw new Error(`the SDK's client has no ${name}`);
  leaveOutTheRules(stack);
  makeQuickToCopy(client.config);
  return client;
}

/**
 * Every command adds the middleware that finds its endpoint by the rules of its service. A client with an
 * endpoint of its own, as every client here, uses that endpoint without these rules, too.
 */
function leaveOutTheRules(stack: Stack): Stack {
  const { concat } = stack;
  stack.concat = (other) => {
    const joined = concat(other);
    joined.remove('endpointV2Middleware');
    return leaveOutTheRules(joined);
  };
  return stack;
}

/**
 * The SDK copies the settings of a client three times a call. V8 keeps an object that grew by Object.assign as a hash
 * table, which is slow to copy. A for-in loop makes V8 lay out every prototype that it walks along, so these settings
 * serve as a prototype for a moment.
 */
function makeQuickToCopy(settings: object): void {
  for (const _name in Object.create(settings)) break;
}

/**
 * Hands the input of a table's command and its answer over as they are, instead of as the bytes of their JSON. Items
 * have DynamoDB's own form in both, and the product keeps no bytes in them. A refusal is read by the SDK as always.
 */
function withoutBytes<Lean extends { readonly config: object }>(client: Lean): Lean {
  const { protocol } = client.config as { readonly protocol: Protocol };
  const read = protocol.deserializeResponse.bind(protocol);
  protocol.serializeRequest = ({ name }, body) =>
    Promise.resolve({
      method: 'POST',
      protocol: 'https:',
      hostname: 'aws.test',
      path: '/',
      query: {},
      headers: { 'x-amz-target': `DynamoDB_20120810.${name}` },
      body,
    });
  protocol.deserializeResponse = (schema, context, response) =>
    response.statusCode === 200
      ? Promise.resolve({ ...response.body, $metadata: { httpStatusCode: 200 } })
      : read(schema, context, response);
  return client;
}
