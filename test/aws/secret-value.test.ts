/** The read of a secret, by the SDK's own client over a socket. */
import { createServer, type Server } from 'node:http';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../local/http.ts';
import { readSecretValue } from '../../service/aws/secrets.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createSignedSecret } from '../../service/aws/signed-secret.ts';
import { fakeClock } from '../api/fakes.ts';

let server: Server | undefined;
afterEach(() => server?.close());

interface Asked {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

type Answer = readonly [status: number, body: object];

/** Secrets Manager that gives these answers in turn, and the last one from then on. */
async function startManager(...answers: readonly Answer[]) {
  const asked: Asked[] = [];
  server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      const [status, answer] = answers[Math.min(asked.length, answers.length - 1)] ?? [500, {}];
      asked.push({ headers: incoming.headers, body });
      outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      outgoing.end(JSON.stringify(answer));
    });
  });
  return { asked, endpoint: `http://127.0.0.1:${await listenOnLoopback(server)}` };
}

/** A client that tries once, of a Secrets Manager that gives this answer to each request. */
async function clientOf(status: number, answer: object) {
  const { asked, endpoint } = await startManager([status, answer]);
  const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret' };
  const client = new SecretsManagerClient({ region: 'eu-central-1', credentials, endpoint, maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  return { asked, client };
}

const input = { SecretId: 'arn', VersionId: 'version-1' };

describe('The read of a secret', () => {
  it('The read asks for the version, and resolves with its text', async () => {
    const secrets = await clientOf(200, { SecretString: 'open sesame', VersionId: 'version-1' });
    const read = await readSecretValue(secrets.client, input);
    expect(read).toMatchObject({ SecretString: 'open sesame', VersionId: 'version-1' });
    expect(secrets.asked.map(({ body }): unknown => JSON.parse(body))).toEqual([input]);
  });

  it('A read that was throttled to the end throws Overloaded, with the throttle as the cause', async () => {
    const secrets = await clientOf(400, { __type: 'ThrottlingException', message: 'slow down' });
    const thrown: unknown = await readSecretValue(secrets.client, input).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Overloaded);
    expect(thrown).toMatchObject({ cause: { name: 'ThrottlingException' } });
  });

  it.each([
    [400, 'AccessDeniedException'],
    [400, 'ResourceNotFoundException'],
    [500, 'InternalServiceError'],
  ])('An answer of %d with %s is thrown as it came', async (status, name) => {
    const secrets = await clientOf(status, { __type: name, message: 'no' });
    await expect(readSecretValue(secrets.client, input)).rejects.toMatchObject({ name });
  });
});

/** Reads the values of a secret, from a Secrets Manager that gives these answers. */
async function startReader(...answers: readonly Answer[]) {
  const { asked, endpoint } = await startManager(...answers);
  const clock = fakeClock();
  const read = createSignedSecret({
    region: 'eu-central-1',
    urlSuffix: 'amazonaws.com',
    accessKeyId: 'AKIA',
    secretAccessKey: 'secret',
    endpoint,
    secretArn: 'arn:secret',
    clock: { ...systemClock, now: () => clock.now() },
  });
  return { asked, clock, read };
}

const noPrevious = [400, { __type: 'ResourceNotFoundException' }] as const;

it('Both values of a secret are read by one signed request each in five minutes, the newest value first', async () => {
  const { asked, clock, read } = await startReader(
    [200, { SecretString: 'new' }],
    [200, { SecretString: 'old' }],
  );
  expect([await read(), await read()]).toEqual([
    ['new', 'old'],
    ['new', 'old'],
  ]);
  expect(asked).toMatchObject([
    {
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: '{"SecretId":"arn:secret","VersionStage":"AWSCURRENT"}',
    },
    { body: '{"SecretId":"arn:secret","VersionStage":"AWSPREVIOUS"}' },
  ]);
  expect(asked[0]?.headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-central-1\/secretsmanager\/aws4_request, /,
  );
  clock.set(clock.now() + 300_000);
  await read();
  expect(asked).toHaveLength(4);
});

it('A secret that was never replaced has one value', async () => {
  const { read } = await startReader([200, { SecretString: 'plain' }], noPrevious);
  expect(await read()).toEqual(['plain']);
});

it('A throttle is Overloaded, a refusal is an error, and neither is kept', async () => {
  const { read } = await startReader(
    [400, { __type: 'ThrottlingException' }],
    [400, { __type: 'AccessDeniedException' }],
    // A secret without a newest value is a defect.
    noPrevious,
    [200, { SecretString: 'new' }],
    [400, { __type: 'ThrottlingException' }],
    [200, { SecretString: 'plain' }],
    noPrevious,
  );
  await expect(read()).rejects.toThrow(Overloaded);
  await expect(read()).rejects.toThrow('Secrets Manager answered 400');
  await expect(read()).rejects.toThrow('Secrets Manager answered 400');
  await expect(read()).rejects.toThrow(Overloaded);
  expect(await read()).toEqual(['plain']);
});
