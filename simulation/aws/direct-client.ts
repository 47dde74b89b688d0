/** The SDK's own DynamoDB client over a function, without delays, faults or virtual time. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { exchangeWith, withoutNetwork, type HttpRequest } from '../aws/http-exchange.ts';
import type { Input } from './table-request.ts';

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
