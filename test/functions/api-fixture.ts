/**
 * Calls the API's handlers as Lambda calls them. The AWS clients are mocks that answer as each test says,
 * so a test can check both the calls to AWS and the answer to the client.
 */
import { SFNClient } from '@aws-sdk/client-sfn';
import { BatchGetCommand, DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { accountToItem, apiKeyToItem, creationToItem } from '../../adapters/dynamodb/mapping.ts';
import type { Item } from '../../adapters/dynamodb/table.ts';
import { undocumented } from '../../document/check/undocumented.ts';
import { throwAny } from '../fixtures/documented.ts';
import type { Account, ApiKey } from '../../core/account.ts';
import type { CreationRecord } from '../../core/creation.ts';
import { anAccount, anApiKey, apiKeyText } from '../fixtures/records.ts';

export let dynamo: ReturnType<typeof mockDynamo>;
export let stateMachine: ReturnType<typeof mockStates>;

const mockDynamo = () => mockClient(DynamoDBDocumentClient);
const mockStates = () => mockClient(SFNClient);

/**
 * Mocks the AWS clients for one test file. The files that run later in the same process get the real clients
 * again.
 */
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

/** The value of TABLE_NAME in vitest.config.ts. */
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

/** An event in payload format 2.0, with the only fields that the handlers read. */
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
  const event = apiEvent(request);
  const result = await handler(event, {} as Context);
  const { statusCode: status = 0, body: text = 'null' } = result;
  const headers = result.headers as Record<string, string>;
  const { method } = event.requestContext.http;
  const path = event.rawPath;
  throwAny(undocumented({ method, path, status, headers: Object.entries(headers), text }));
  return { status, headers, body: JSON.parse(text) as Answer['body'] };
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

/** Lets the table answer each read with the items that the read asks for, and accept every update. */
export function tableHolds(stored: Stored = {}): void {
  const items = storedItems(stored);
  dynamo.on(BatchGetCommand).callsFake(async (input: { RequestItems: Record<string, { Keys: Item[] }> }) => {
    const asked = input.RequestItems[tableName]?.Keys ?? [];
    const found = items.filter(({ pk, sk }) => asked.some((key) => key['pk'] === pk && key['sk'] === sk));
    return Promise.resolve({ Responses: { [tableName]: found } });
  });
  dynamo.on(UpdateCommand).resolves({ Attributes: { count: 1 } });
}

/** The keys that the nth read asked for, each as "pk sk". */
export function keysRead(index = 0): string[] {
  const input = dynamo.commandCalls(BatchGetCommand)[index]?.args[0].input;
  return (input?.RequestItems?.[tableName]?.Keys ?? []).map(({ pk, sk }) => `${String(pk)} ${String(sk)}`);
}

/** The keys of all single updates in their order, each as "pk sk". */
export function keysUpdated(): string[] {
  return dynamo
    .commandCalls(UpdateCommand)
    .map(({ args }) => `${String(args[0].input.Key?.['pk'])} ${String(args[0].input.Key?.['sk'])}`);
}
