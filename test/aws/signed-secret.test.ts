/** A secret read by a signed request, over a socket. */
import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { listenOnLoopback } from '../../local/http.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createSignedSecret } from '../../service/aws/signed-secret.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { fakeClock, type FakeClock } from '../api/fakes.ts';

let server: Server | undefined;
afterEach(() => server?.close());

interface Asked {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Secrets Manager that gives these answers in turn, and the last one from then on. */
async function startSecrets(...answers: readonly (readonly [status: number, body: object])[]): Promise<{
  readonly asked: Asked[];
  readonly clock: FakeClock;
  readonly read: () => Promise<readonly string[]>;
}> {
  const asked: Asked[] = [];
  server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      const [status, answer] = answers[Math.min(asked.length, answers.length - 1)] ?? [500, {}];
      asked.push({ headers: incoming.headers, body });
      outgoing.writeHead(status).end(JSON.stringify(answer));
    });
  });
  const endpoint = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const clock = fakeClock();
  const read = createSignedSecret({
    region: 'eu-central-1',
    urlSuffix: 'amazonaws.com',
    accessKeyId: 'AKIA',
    secretAccessKey: 'secret',
    endpoint,
    secretArn: 'arn:secret',
    clock: { now: () => clock.now(), timeout: (millis) => systemClock.timeout(millis) },
  });
  return { asked, clock, read };
}

const noPrevious = [400, { __type: 'ResourceNotFoundException' }] as const;

it('Both values of a secret are read by one signed request each in five minutes, the newest value first', async () => {
  const { asked, clock, read } = await startSecrets(
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
  const { read } = await startSecrets([200, { SecretString: 'plain' }], noPrevious);
  expect(await read()).toEqual(['plain']);
});

it('A throttle is Overloaded, a refusal is an error, and neither is kept', async () => {
  const { read } = await startSecrets(
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
