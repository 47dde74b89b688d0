/**
 * The clients of the AWS SDK without their middleware. The product sends the same commands, and hears the same answers
 * and the same exceptions. The SDK's retry of throttled calls stays. The seeds run the SDK itself.
 */
import {
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type SFNClient, SFNServiceException } from '@aws-sdk/client-sfn';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { AwsError } from '../../../../local/aws/aws-error.ts';
import type { AwsClients, AwsEndpoints } from '../../aws/sdk-clients.ts';
import type { Input } from '../../aws/table-request.ts';
import { conflictOf } from '../../world/effects.ts';
import type { World } from '../../world/simulated-world.ts';
import { answerToPlain, inputOfPlain } from './plain-items.ts';

/** What this file reads of a command of the SDK. */
interface Command {
  readonly input: Input;
  readonly constructor: { readonly name: string };
  readonly middlewareStack: {
    readonly resolve: (handler: unknown, context: object) => (args: object) => Promise<unknown>;
  };
}

interface Options {
  readonly abortSignal?: AbortSignal;
}

type Send = (command: Command, options?: Options) => Promise<unknown>;

/** As callLimits() of the adapters. */
const mostTries = 3;
/** Constants of @smithy/core, submodule retry, for the mode "standard". */
const throttled = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);
const throttledDelayMillis = 1_000;
const usualDelayMillis = 50;
const longestDelayMillis = 20_000;

/** Creates clients for one world. Each call has retries of its own, as an environment of Lambda has. */
export function createLeanClients(world: World, endpoints: AwsEndpoints): AwsClients {
  const exchange = async (
    service: keyof AwsEndpoints,
    operation: string,
    input: Input,
    signal: AbortSignal | undefined,
  ): Promise<object> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await world.call(
          { service, operation, target: '', ...(signal && { signal }) },
          (fault): object => endpoints[service](operation, input, fault),
        );
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        const mayPass = throttled.has(error.code) || error.code === 'InternalServerError';
        if (!mayPass || tries === mostTries) throw error;
        const base = throttled.has(error.code) ? throttledDelayMillis : usualDelayMillis;
        await world.sleep(
          Math.min(longestDelayMillis, Math.floor(world.dice.unit('') * 2 ** (tries - 1) * base)),
          signal,
        );
      }
    }
  };

  const sendToStates: Send = async (command, { abortSignal } = {}) => {
    const operation = operationOf(command);
    try {
      const answer = await exchange('states', operation, command.input, abortSignal);
      return 'startDate' in answer && typeof answer.startDate === 'number'
        ? { ...answer, startDate: new Date(answer.startDate * 1000) }
        : answer;
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      throw new SFNServiceException({ ...exceptionOf(error), name: error.code });
    }
  };

  const sendToSecrets: Send = async (command, { abortSignal } = {}) =>
    exchange('secretsmanager', operationOf(command), command.input, abortSignal);

  return {
    documents: leanTableClient((operation, input, signal) => exchange('dynamodb', operation, input, signal)),
    states: { send: sendToStates } as unknown as SFNClient,
    secrets: { send: sendToSecrets } as unknown as SecretsManagerClient,
  };
}

/** The client of the table over a function that answers in DynamoDB's own form, or throws AwsError. */
export function leanTableClient(
  exchange: (operation: string, input: Input, signal: AbortSignal | undefined) => Promise<object>,
): DynamoDBDocumentClient {
  const send: Send = async (command, { abortSignal } = {}) => {
    const operation = operationOf(command);
    const input = inputOfPlain(operation, command.input);
    const work = async (): Promise<unknown> => {
      try {
        return answerToPlain(operation, await exchange(operation, input, abortSignal));
      } catch (error) {
        throw error instanceof AwsError ? tableException(operation, input, error) : error;
      }
    };
    if (operation !== 'TransactWriteItems') return work();
    // The adapter adds a middleware to a transaction, which notices lost answers.
    return command.middlewareStack.resolve(work, {})({ input: command.input });
  };
  return { send } as unknown as DynamoDBDocumentClient;
}

/** The operations of lib-dynamodb's commands whose names differ from DynamoDB's own. */
const named: Readonly<Record<string, string>> = {
  GetCommand: 'GetItem',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  BatchGetCommand: 'BatchGetItem',
  BatchWriteCommand: 'BatchWriteItem',
  TransactWriteCommand: 'TransactWriteItems',
  TransactGetCommand: 'TransactGetItems',
};

function operationOf({ constructor: { name } }: Command): string {
  return named[name] ?? name.slice(0, -'Command'.length);
}

function exceptionOf({ message }: AwsError): {
  readonly message: string;
  readonly $fault: 'client';
  readonly $metadata: { readonly httpStatusCode: number };
} {
  return { message, $fault: 'client', $metadata: { httpStatusCode: 400 } };
}

function tableException(operation: string, input: Input, refusal: AwsError): Error {
  // A transaction reports a conflict as a reason of its cancellation.
  const error =
    refusal.code === 'TransactionConflictException' && operation === 'TransactWriteItems'
      ? conflictOf((input['TransactItems'] as readonly unknown[]).length)
      : refusal;
  const base = exceptionOf(error);
  const { Item: item, CancellationReasons } = error.fields;
  switch (error.code) {
    case 'ConditionalCheckFailedException':
      return new ConditionalCheckFailedException({
        ...base,
        ...(item !== undefined && { Item: item as never }),
      });
    case 'TransactionCanceledException':
      return new TransactionCanceledException({
        ...base,
        CancellationReasons: CancellationReasons as CancellationReason[],
      });
    default:
      return new DynamoDBServiceException({ ...base, name: error.code });
  }
}
