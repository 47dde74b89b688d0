/**
 * The API's handlers as Lambda calls them, over AWS clients that answer what a test says.
 * What is asserted is what went over the wire and what came back.
 */
import { SFNClient } from '@aws-sdk/client-sfn';
import { BatchGetCommand, DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { accountToItem, apiKeyToItem, creationToItem } from '../../adapters/dynamodb/mapping.ts';
import type { Item } from '../../adapters/dynamodb/table.ts';
import type { Account, ApiKey } from '../../core/account.ts';
import type { CreationRecord } from '../../core/creation.ts';
import { anAccount, anApiKey, apiKeyText } from '../fixtures/records.ts';

export let dynamo: ReturnType<typeof mockDynamo>;
export let stateMachine: ReturnType<typeof mockStates>;

const mockDynamo = () => mockClient(DynamoDBDocumentClient);
const mockStates = () => mockClient(SFNClient);

/** For a test file: its AWS clients answer what each test says, and are themselves again for the files behind it. */
export function mockAws(): void {
  beforeAll(() => {
    dynamo = mockDynamo();
    stateMachine = mockStates();
  });
  beforeEach(() => {
    dynamo.reset();
    stateMachine.reset();
  });
  afterAll(() => {
    dynamo.restore();
    stateMachine.restore();
  });
}

/** Of vitest.config.ts. */
export const tableName = 'table';

export const bearer = { authorization: `Bearer ${apiKeyText}` };

interface Request {
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly sourceIp?: string;
}

/** Payload format 2.0, of which the handlers read these fields only. */
function apiEvent({
  method = 'GET',
  path = '/api/public/v1/models',
  id,
  headers = bearer,
  body,
  sourceIp = '203.0.113.7',
}: Request = {}): APIGatewayProxyEventV2 {
  return {
    rawPath: path,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    requestContext: { requestId: 'request-1', http: { method, path, sourceIp } },
    ...(id !== undefined && { pathParameters: { id } }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEventV2;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error?: {
      readonly code: string;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };
  } & Readonly<Record<string, unknown>>;
}

type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

export async function call(handler: Handler, request: Request = {}): Promise<Answer> {
  const result = await handler(apiEvent(request), {} as Context);
  return {
    status: result.statusCode ?? 0,
    headers: result.headers as Record<string, string>,
    body: JSON.parse(result.body ?? 'null') as Answer['body'],
  };
}

export interface Stored {
  readonly account?: Partial<Account> | null;
  readonly apiKey?: Partial<ApiKey> | null;
  readonly creation?: CreationRecord;
  readonly others?: readonly Item[];
}

export function storedItems({ account = {}, apiKey = {}, creation, others = [] }: Stored = {}): Item[] {
  return [
    ...(account ? [accountToItem(anAccount(account))] : []),
    ...(apiKey ? [apiKeyToItem(anApiKey(apiKey))] : []),
    ...(creation ? [creationToItem(creation)] : []),
    ...others,
  ];
}

/** The table answers reads with those of the items that were asked for, and takes every update. */
export function tableHolds(stored: Stored = {}): void {
  const items = storedItems(stored);
  dynamo.on(BatchGetCommand).callsFake(async (input: { RequestItems: Record<string, { Keys: Item[] }> }) => {
    const asked = input.RequestItems[tableName]?.Keys ?? [];
    const found = items.filter(({ pk, sk }) => asked.some((key) => key['pk'] === pk && key['sk'] === sk));
    return Promise.resolve({ Responses: { [tableName]: found } });
  });
  dynamo.on(UpdateCommand).resolves({ Attributes: { count: 1 } });
}

/** "pk sk" of everything that the nth read asked for. */
export function keysRead(index = 0): string[] {
  const input = dynamo.commandCalls(BatchGetCommand)[index]?.args[0].input;
  return (input?.RequestItems?.[tableName]?.Keys ?? []).map(({ pk, sk }) => `${String(pk)} ${String(sk)}`);
}

/** "pk sk" of every single update, in order. */
export function keysUpdated(): string[] {
  return dynamo
    .commandCalls(UpdateCommand)
    .map(({ args }) => `${String(args[0].input.Key?.['pk'])} ${String(args[0].input.Key?.['sk'])}`);
}
