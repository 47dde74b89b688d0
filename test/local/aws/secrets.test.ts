import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { createSecrets, generateSecretString, localSecretArn } from '../../../local/aws/secrets.ts';
import { type Fixture, startEndpoint, startMillis } from './endpoint-fixture.ts';

test('A generated secret has the length and the characters that were asked for', () => {
  expect(generateSecretString({})).toMatch(/^[!-~]{32}$/);
  expect(generateSecretString({ PasswordLength: 64, ExcludePunctuation: true })).toMatch(/^[A-Za-z0-9]{64}$/);
  expect(
    generateSecretString({
      ExcludePunctuation: true,
      ExcludeLowercase: true,
      ExcludeUppercase: true,
      ExcludeCharacters: '01234',
    }),
  ).toMatch(/^[5-9]{32}$/);
  expect(generateSecretString({})).not.toBe(generateSecretString({}));
});

test('With a SecretStringTemplate the generated secret is a member of the JSON', () => {
  const secret = generateSecretString({
    SecretStringTemplate: '{"user":"u"}',
    GenerateStringKey: 'key',
    PasswordLength: 8,
    ExcludePunctuation: true,
  });
  const key: unknown = expect.stringMatching(/^\w{8}$/);
  expect(JSON.parse(secret)).toEqual({ user: 'u', key });
});

test('A description that excludes every character, or that has an unknown member, is refused', () => {
  expect(() =>
    generateSecretString({
      ExcludePunctuation: true,
      ExcludeLowercase: true,
      ExcludeUppercase: true,
      ExcludeNumbers: true,
    }),
  ).toThrow('excludes every character');
  expect(() => generateSecretString({ PaswordLength: 3 })).toThrow();
});

const arn = localSecretArn('WebhookKey');

async function startSecrets(): Promise<Fixture & { client: SecretsManagerClient }> {
  const fixture = await startEndpoint();
  fixture.secrets.ensure(arn, 'WebhookKey', 'first');
  return { ...fixture, client: new SecretsManagerClient(fixture.as('operator')) };
}

test('A secret is found by its ARN, by its ARN without the random end, and by its name', async () => {
  const { client } = await startSecrets();
  for (const SecretId of [arn, arn.slice(0, -7), 'WebhookKey']) {
    expect(await client.send(new GetSecretValueCommand({ SecretId }))).toMatchObject({
      ARN: arn,
      Name: 'WebhookKey',
      SecretString: 'first',
      VersionStages: ['AWSCURRENT'],
    });
  }
});

test('The call ensure keeps the value of a secret that exists', async () => {
  const { client, secrets } = await startSecrets();
  secrets.ensure(arn, 'WebhookKey', 'another');
  expect((await client.send(new GetSecretValueCommand({ SecretId: arn }))).SecretString).toBe('first');
});

test('A new value becomes current, and the last value stays readable by its stage and its id', async () => {
  const { client } = await startSecrets();
  const first = await client.send(new GetSecretValueCommand({ SecretId: arn }));
  const put = await client.send(new PutSecretValueCommand({ SecretId: arn, SecretString: 'second' }));
  const read = async (input: object): Promise<string | undefined> =>
    (await client.send(new GetSecretValueCommand({ SecretId: arn, ...input }))).SecretString;
  expect(await read({})).toBe('second');
  expect(await read({ VersionStage: 'AWSPREVIOUS' })).toBe('first');
  expect(await read({ VersionId: first.VersionId })).toBe('first');
  expect(await read({ VersionId: put.VersionId, VersionStage: 'AWSCURRENT' })).toBe('second');
  const { VersionIdsToStages } = await client.send(new DescribeSecretCommand({ SecretId: arn }));
  expect(VersionIdsToStages).toEqual({
    [String(first.VersionId)]: ['AWSPREVIOUS'],
    [String(put.VersionId)]: ['AWSCURRENT'],
  });
  await client.send(new UpdateSecretCommand({ SecretId: arn, SecretString: 'third' }));
  expect(await read({ VersionStage: 'AWSPREVIOUS' })).toBe('second');
  await expect(read({ VersionId: first.VersionId })).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
});

test('A repeated request token is accepted with the same value, and refused with another', async () => {
  const { client } = await startSecrets();
  const put = (SecretString: string): PutSecretValueCommand =>
    new PutSecretValueCommand({ SecretId: arn, SecretString, ClientRequestToken: 'a'.repeat(32) });
  await client.send(put('second'));
  await client.send(put('second'));
  expect(
    (await client.send(new GetSecretValueCommand({ SecretId: arn, VersionStage: 'AWSPREVIOUS' })))
      .SecretString,
  ).toBe('first');
  await expect(client.send(put('other'))).rejects.toMatchObject({ name: 'ResourceExistsException' });
});

test('A binary value comes back as bytes', async () => {
  const { client } = await startSecrets();
  await client.send(new CreateSecretCommand({ Name: 'bytes', SecretBinary: Uint8Array.of(0, 255, 7) }));
  expect((await client.send(new GetSecretValueCommand({ SecretId: 'bytes' }))).SecretBinary).toEqual(
    Uint8Array.of(0, 255, 7),
  );
});

test('A read of a missing secret and the creation of an existing secret are refused', async () => {
  const { client } = await startSecrets();
  await expect(client.send(new GetSecretValueCommand({ SecretId: 'none' }))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
  await expect(
    client.send(new GetSecretValueCommand({ SecretId: arn, VersionStage: 'AWSPREVIOUS' })),
  ).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  await expect(
    client.send(new CreateSecretCommand({ Name: 'WebhookKey', SecretString: 'x' })),
  ).rejects.toMatchObject({ name: 'ResourceExistsException' });
});

test('Secrets are kept in files that only their owner can read', async () => {
  const { client, folder } = await startSecrets();
  await client.send(new CreateSecretCommand({ Name: '../up', SecretString: 'x' }));
  const files = await readdir(path.join(folder, 'secrets'));
  expect(files.sort()).toEqual(['s-..%2Fup.json', 's-WebhookKey.json']);
  for (const file of files) expect((await stat(path.join(folder, 'secrets', file))).mode & 0o777).toBe(0o600);
  const reopened = createSecrets(path.join(folder, 'secrets'), { now: () => startMillis });
  expect(
    await reopened.service({
      service: 'secretsmanager',
      operation: 'GetSecretValue',
      caller: 'operator',
      input: { SecretId: arn },
    }),
  ).toMatchObject({ SecretString: 'first' });
});
