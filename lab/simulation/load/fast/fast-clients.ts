/**
 * The clients of the AWS SDK without their middleware. The product sends the same commands, and gets the same answers
 * and exceptions. The SDK's retry of throttled calls stays. The seeds run the SDK itself.
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
import type { Attribute, Item } from '../../../../local/dynamodb/attributes.ts';
import type { AwsClients, AwsEndpoints } from '../../aws/sdk-clients.ts';
import type { Input } from '../../aws/table-request.ts';
import { conflictOf } from '../../world/effects.ts';
import type { World } from '../../world/simulated-world.ts';

/** Items between the form of lib-dynamodb and DynamoDB's own, for the few types that the adapters use. */
type Plain = Readonly<Record<string, unknown>>;

export function marshalItem(item: Plain): Item {
  const marshalled: Record<string, Attribute> = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) marshalled[name] = marshalValue(value);
  }
  return marshalled;
}

function marshalValue(value: unknown): Attribute {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      break;
    default:
      throw new Error(`no attribute for a ${typeof value}`);
  }
  if (value === null) return { NULL: true };
  if (Array.isArray(value))
    return { L: value.filter((one) => one !== undefined).map((one) => marshalValue(one)) };
  if (value instanceof Set) return marshalSet([...(value as Set<unknown>)]);
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  return { M: marshalItem(value as Plain) };
}

function marshalSet(values: readonly unknown[]): Attribute {
  return typeof values[0] === 'number' ? { NS: values.map(String) } : { SS: values.map(String) };
}

function plainItem(item: Item): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) plain[name] = plainValue(value);
  }
  return plain;
}

function plainValue(value: Attribute): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.M !== undefined) return plainItem(value.M);
  if (value.L !== undefined) return value.L.map(plainValue);
  if (value.SS !== undefined) return new Set(value.SS);
  if (value.NS !== undefined) return new Set(value.NS.map(Number));
  if (value.B !== undefined) return new Uint8Array(Buffer.from(value.B, 'base64'));
  throw new Error('an attribute of an unknown type');
}

/** The members of a request that hold an item, or a part of one. */
const itemMembers = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'] as const;

function inputOfPlain(operation: string, input: Plain): Plain {
  switch (operation) {
    case 'BatchGetItem':
      return {
        ...input,
        RequestItems: mapMembers(input['RequestItems'] as Plain, (request) => ({
          ...(request as Plain),
          Keys: ((request as Plain)['Keys'] as readonly Plain[]).map(marshalItem),
        })),
      };
    case 'TransactWriteItems':
      return {
        ...input,
        TransactItems: (input['TransactItems'] as readonly Plain[]).map((step) =>
          mapMembers(step, (one) => withItems(one as Plain)),
        ),
      };
    default:
      return withItems(input);
  }
}

function withItems(input: Plain): Plain {
  const marshalled: Record<string, unknown> = { ...input };
  for (const member of itemMembers)
    if (input[member] !== undefined) marshalled[member] = marshalItem(input[member] as Plain);
  return marshalled;
}

/** The items of an answer that lib-dynamodb returns as plain values. */
function answerToPlain(operation: string, answer: object): Plain {
  const plain: Record<string, unknown> = { ...answer };
  for (const member of ['Item', 'Attributes', 'LastEvaluatedKey'] as const)
    if (plain[member] !== undefined) plain[member] = plainItem(plain[member] as Item);
  if (plain['Items'] !== undefined) plain['Items'] = (plain['Items'] as readonly Item[]).map(plainItem);
  if (operation !== 'BatchGetItem') return plain;
  plain['Responses'] = mapMembers(plain['Responses'] as Plain, (items) =>
    (items as readonly Item[]).map(plainItem),
  );
  plain['UnprocessedKeys'] = mapMembers((plain['UnprocessedKeys'] ?? {}) as Plain, (request) => ({
    ...(request as Plain),
    Keys: ((request as Plain)['Keys'] as readonly Item[]).map(plainItem),
  }));
  return plain;
}

function mapMembers(members: Plain, map: (value: unknown) => unknown): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) mapped[name] = map(members[name]);
  return mapped;
}

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
