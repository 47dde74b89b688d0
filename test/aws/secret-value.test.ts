/** The read of a secret, by the SDK's own client over a socket. */
import { createServer, type Server } from 'node:http';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../local/http.ts';
import { readSecretValue } from '../../service/aws/secrets.ts';
import { Overloaded } from '../../service/values/errors.ts';

let server: Server | undefined;
let client: SecretsManagerClient | undefined;
afterEach(() => {
  client?.destroy();
  server?.close();
});

/** Secrets Manager that gives this answer to each request. The client tries once. */
async function startSecrets(
  status: number,
  answer: object,
): Promise<{ readonly asked: string[]; readonly client: SecretsManagerClient }> {
  const asked: string[] = [];
  server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      asked.push(body);
      outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      outgoing.end(JSON.stringify(answer));
    });
  });
  client = new SecretsManagerClient({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIA', secretAccessKey: 'secret' },
    endpoint: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    maxAttempts: 1,
  });
  return { asked, client };
}

const input = { SecretId: 'arn', VersionId: 'version-1' };

describe('The read of a secret', () => {
  it('The read asks for the version, and resolves with its text', async () => {
    const secrets = await startSecrets(200, { SecretString: 'open sesame', VersionId: 'version-1' });
    const read = await readSecretValue(secrets.client, input);
    expect(read).toMatchObject({ SecretString: 'open sesame', VersionId: 'version-1' });
    expect(secrets.asked.map((body): unknown => JSON.parse(body))).toEqual([input]);
  });

  it('A read that was throttled to the end throws Overloaded, with the throttle as the cause', async () => {
    const secrets = await startSecrets(400, { __type: 'ThrottlingException', message: 'slow down' });
    const thrown: unknown = await readSecretValue(secrets.client, input).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Overloaded);
    expect(thrown).toMatchObject({ cause: { name: 'ThrottlingException' } });
  });

  it.each([
    [400, 'AccessDeniedException'],
    [400, 'ResourceNotFoundException'],
    [500, 'InternalServiceError'],
  ])('An answer of %d with %s is thrown as it came', async (status, name) => {
    const secrets = await startSecrets(status, { __type: name, message: 'no' });
    await expect(readSecretValue(secrets.client, input)).rejects.toMatchObject({ name });
  });
});
