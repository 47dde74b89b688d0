import path from 'node:path';
import { DeleteFunctionCommand, LambdaClient, ListAliasesCommand } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { openFunctionVersions } from '../../../local/aws/function-versions.ts';
import { startEndpoint, temporaryFolder } from './endpoint-fixture.ts';

test('A version is published when the code or the configuration has changed, and its number is never used again', async () => {
  const file = path.join(await temporaryFolder(), 'lambda', 'versions.json');
  let now = 1_000;
  const open = (): ReturnType<typeof openFunctionVersions> => openFunctionVersions(file, () => now);
  expect([open().publish('Render', 'a'), open().publish('Render', 'a')]).toEqual(['1', '1']);
  now = 2_000;
  expect([open().publish('Render', 'b'), open().publish('Refund', 'c')]).toEqual(['2', '1']);
  const call = async (operation: string, input: Record<string, unknown>): Promise<Record<string, unknown>> =>
    open().serviceFor(
      ['Render'],
      [],
    )({ service: 'lambda', operation, caller: 'operator', input: { FunctionName: 'Render', ...input } });
  await call('DeleteFunction', { Qualifier: '2' });
  await expect(call('DeleteFunction', { Qualifier: '2' })).rejects.toMatchObject({
    code: 'ResourceNotFoundException',
  });
  // Going back to an earlier release publishes a version of its own.
  expect(open().publish('Render', 'a')).toBe('3');
  expect(await call('ListVersionsByFunction', {})).toMatchObject({
    Versions: [
      { Version: '$LATEST' },
      { Version: '1', LastModified: '1970-01-01T00:00:01.000+0000' },
      { Version: '3' },
    ],
  });
});

test('A version that an alias names cannot be deleted', async () => {
  const versions = openFunctionVersions(path.join(await temporaryFolder(), 'versions.json'), () => 0);
  versions.publish('Get', 'a');
  versions.publish('Get', 'b');
  const { as } = await startEndpoint({
    lambda: versions.serviceFor(['Get'], [{ functionId: 'Get', name: 'live', version: '1' }]),
  });
  const client = new LambdaClient(as('operator'));
  expect(await client.send(new ListAliasesCommand({ FunctionName: 'Get' }))).toMatchObject({
    Aliases: [{ Name: 'live', FunctionVersion: '1' }],
  });
  await expect(
    client.send(new DeleteFunctionCommand({ FunctionName: 'Get', Qualifier: '1' })),
  ).rejects.toMatchObject({ name: 'ResourceConflictException', $metadata: { httpStatusCode: 409 } });
  await client.send(new DeleteFunctionCommand({ FunctionName: 'Get', Qualifier: '2' }));
});
