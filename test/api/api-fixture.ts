/** Mocks of the AWS clients, for tests of what an entry asks of AWS. */
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach } from 'vitest';

export let dynamo: ReturnType<typeof mockDynamo>;

const mockDynamo = () => mockClient(DynamoDBDocumentClient);

/**
 * Mocks the AWS clients for one test file. The files that run later in the same process get the real clients
 * again.
 */
export function mockAws(): void {
  let stateMachine: { reset(): void; restore(): void };
  beforeAll(() => {
    dynamo = mockDynamo();
    stateMachine = mockClient(SFNClient);
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
