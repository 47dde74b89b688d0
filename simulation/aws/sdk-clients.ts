/** The AWS SDK's own clients. Each HTTP exchange of them is one call at the world's door. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimits, tryMillis } from '../../adapters/call-limits.ts';
import type { Input } from './table-request.ts';
import type { Ongoing } from '../world/effects.ts';
import type { FaultKind } from '../world/faults.ts';
import type { World } from '../world/simulated-world.ts';
import { lean, withoutBytes } from './lean-clients.ts';
import { targetOf } from './call-target.ts';
import { exchangeWith, withoutNetwork, type HttpAnswer, type HttpRequest } from './http-exchange.ts';

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
 * What these settings are in the functions, too. Each client would look for them in the environment and in
 * configuration files.
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
