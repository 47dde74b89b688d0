/** The service's table in memory, without a socket between: for tests that send thousands of calls. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import { createDynamo } from '../../local/aws/dynamodb/dynamo.ts';
import { CONTENT_TYPE, readTarget, writeError, writeOutput } from '../../local/aws/json-protocol.ts';
import type { TestService } from '../fixtures/service.ts';

/** The part of the SDK's request that this door reads. */
interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The unchanged SDK client over the unchanged stand-in, which keeps the template's table in memory. */
export async function directTable({ machine, operator }: TestService): Promise<Table> {
  const { service } = createDynamo({ now: machine.clock.now });
  const [described] = machine.template.tables;
  if (!described) throw new Error('the template has no table');
  await service({ service: 'dynamodb', operation: 'CreateTable', caller: 'operator', input: described.create });
  const handle = async ({ headers, body }: SentRequest): Promise<{ response: object }> => {
    const { operation } = readTarget(headers['x-amz-target'] ?? '');
    const input = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Record<string, unknown>;
    try {
      return answer(200, writeOutput(await service({ service: 'dynamodb', operation, caller: 'operator', input })));
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      return answer(error.status, writeError('dynamodb', error));
    }
  };
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
    requestHandler: { handle },
    // Nobody here reads a signature or an address: both are a good part of the cost of a call.
    endpoint: machine.awsUrl,
    signer: { sign: async (request) => Promise.resolve(request) },
  });
  return { ...operator.table, client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }) };
}

function answer(statusCode: number, text: string): { response: object } {
  return { response: { statusCode, headers: { 'content-type': CONTENT_TYPE.dynamodb }, body: new TextEncoder().encode(text) } };
}
