/** Replaces the network below the SDK: turns its HTTP requests into calls of a function. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { conflictOf } from '../world/effects.ts';
import { asTableRequest, type Input } from './table-request.ts';

/** The parts of the SDK's HTTP request that the simulation reads. */
export interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** The input itself when the client writes no bytes. */
  readonly body: string | Uint8Array | Input;
}

/** An HTTP answer as the SDK expects it of its request handler. */
export interface HttpAnswer {
  readonly response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: object;
  };
}

/** Settings of the SDK's clients when a function replaces the network. */
export const withoutNetwork = {
  region: 'us-east-1',
  endpoint: 'https://aws.test',
  credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' },
  // The signature is not checked here, and computing it is half of the cost of a call.
  signer: { sign: <Request>(request: Request) => Promise.resolve(request) },
  // The SDK's default logger prints nothing, but the SDK still makes it a filtered copy of each input and
  // output.
  logger: {} as Required<DynamoDBClientConfig>['logger'],
};

/** Answers one HTTP request with what `perform` returns, or with the refusal that it throws. */
export async function exchangeWith(
  request: HttpRequest,
  perform: (operation: string, input: Input) => Promise<object>,
): Promise<HttpAnswer> {
  const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
  const { body } = request;
  const writesBytes = typeof body === 'string' || body instanceof Uint8Array;
  const input = writesBytes ? (JSON.parse(textOf(body)) as Input) : body;
  try {
    const answer = await perform(operation, input);
    return answerOf(200, writesBytes ? bytesOf(answer) : answer);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return refusalOf(operation, input, error);
  }
}

function refusalOf(operation: string, input: Input, error: AwsError): HttpAnswer {
  // A transaction reports a conflict as a reason of its cancellation.
  const { code, message, fields } =
    error.code === 'TransactionConflictException' && operation === 'TransactWriteItems'
      ? conflictOf(asTableRequest(input).TransactItems?.length ?? 0)
      : error;
  return answerOf(
    code === 'InternalServerError' ? 500 : 400,
    bytesOf({ __type: `simulated#${code}`, message, ...fields }),
  );
}

function answerOf(statusCode: number, body: object): HttpAnswer {
  return { response: { statusCode, headers: { 'content-type': 'application/x-amz-json-1.0' }, body } };
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

function bytesOf(body: object): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}

/** Creates a client. `perform` answers each request or throws AwsError. */
export function createDirectClient(
  perform: (operation: string, input: Input) => object,
): DynamoDBDocumentClient {
  const config = {
    ...withoutNetwork,
    requestHandler: {
      handle: (request: HttpRequest) =>
        exchangeWith(request, (operation, input) => Promise.resolve(perform(operation, input))),
    },
  };
  return DynamoDBDocumentClient.from(new DynamoDBClient(config), {
    marshallOptions: { removeUndefinedValues: true },
  });
}

/** Makes the SDK read its configuration files. The SDK keeps them for all later clients of the process. */
export async function readSdkConfiguration(): Promise<void> {
  const client = createDirectClient(() => ({}));
  await client.send(new GetCommand({ TableName: 'table', Key: { pk: 'NONE', sk: 'NONE' } }));
}
