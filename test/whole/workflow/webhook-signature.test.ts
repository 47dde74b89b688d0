/** Signatures, checked with tools that share no code with the service. */
import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { adminJson } from '../../admin/admin-run.ts';
import { type Client, sharedTestService } from '../../fixtures/service.ts';
import { jsonObject } from '../../fixtures/values.ts';
import { settled, submit } from './creations.ts';
import { type Arrival, startReceiver } from './receiver.ts';

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterAll(async () => {
  await receiver.close();
  await service.end();
});

/**
 * Prints both signatures of the bytes on standard input. The arguments are secret, webhook-id and timestamp.
 */
const pythonReceiver = `
import base64, hashlib, hmac, sys
secret, message_id, timestamp = sys.argv[1:4]
body = sys.stdin.buffer.read()
plain = hmac.new(secret.encode(), timestamp.encode() + b'.' + body, hashlib.sha256).hexdigest()
key = base64.b64decode(secret[len('whsec_'):], validate=True)
standard = hmac.new(key, (message_id + '.' + timestamp + '.').encode() + body, hashlib.sha256).digest()
print('sha256=' + plain)
print('v1,' + base64.b64encode(standard).decode())
print(len(key))
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

function run(command: string, args: readonly string[], input: Buffer): string {
  const { status, stdout, stderr } = spawnSync(command, args, { input });
  expect(status, String(stderr)).toBe(0);
  return String(stdout).trim();
}

function byPython(secret: string, { headers, raw }: Arrival): string[] {
  return run(
    'python3',
    ['-c', pythonReceiver, secret, headers['webhook-id'] ?? '', headers['x-timestamp'] ?? ''],
    raw,
  ).split('\n');
}

function byOpenssl(secret: string, { headers, raw }: Arrival): string {
  const signed = Buffer.concat([Buffer.from(`${headers['x-timestamp'] ?? ''}.`), raw]);
  return `sha256=${run('openssl', ['dgst', '-sha256', '-hmac', secret], signed).replace(/^.*= /, '')}`;
}

let hooks = 0;
/**
 * One delivered webhook. Its body is not ASCII, so a signature over characters instead of bytes would be
 * wrong.
 */
async function deliver({ key }: Client): Promise<Arrival> {
  const name = `signed-${(hooks += 1)}`;
  const id = await submit(service, key, {
    prompt: 'ein See',
    metadata: { Straße: 'größer — 湖 🌊' },
    webhook_url: receiver.hook(name, 200),
  });
  await settled(service, id);
  const [arrival] = receiver.arrivals(name);
  if (!arrival) throw new Error('no webhook came');
  return arrival;
}

describe('the signature of a webhook', async () => {
  const client = await service.client();
  const arrival = await deliver(client);
  const { headers, raw } = arrival;

  it('The signature is what openssl makes of timestamp, dot and raw body', () => {
    expect(headers['x-webhook-signature-256']).toBe(byOpenssl(client.webhookSecret, arrival));
    const longer = { ...arrival, raw: Buffer.concat([raw, Buffer.from(' ')]) };
    expect(byOpenssl(client.webhookSecret, longer)).not.toBe(headers['x-webhook-signature-256']);
  });

  it("Both signatures are what Python's hmac makes, the standard one under the 32 bytes of the secret", ({
    skip,
  }) => {
    if (!hasPython) skip('python3 is not on this machine');
    const { 'x-webhook-signature-256': plain, 'webhook-signature': standard } = headers;
    expect(byPython(client.webhookSecret, arrival)).toEqual([plain, standard, '32']);
  });

  it('The webhook has the documented headers and payload', () => {
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Darkroom-Webhooks/1',
      'x-webhook-event': 'creation.completed',
      'x-webhook-attempt': '1',
    });
    expect(Math.abs(Number(headers['x-timestamp']) - service.machine.clock.now() / 1_000)).toBeLessThan(5);
    const body = jsonObject(String(raw));
    expect(Object.keys(body)).toEqual([
      'event',
      'id',
      'status',
      'result_urls',
      'cost',
      'metadata',
      'created_at',
      'completed_at',
    ]);
    expect(body['metadata']).toEqual({ Straße: 'größer — 湖 🌊' });
  });
});

describe('a rotated webhook secret', () => {
  // test/webhooks/secrets.test.ts has the moments to the millisecond, and a rotation from now on.
  it('A new secret that signs later leaves no gap: the old secret signs until then, and verifies for 24 h more', async ({
    skip,
  }) => {
    if (!hasPython) skip('python3 is not on this machine');
    const client = await service.client();
    const shown = await adminJson(
      service.folder,
      'webhooks',
      'rotate',
      client.account.id,
      '--sign-from',
      '1h',
    );
    expect(shown).toMatchObject({ signing_until_then: client.webhookSecret });
    const begins = Date.parse(String(shown['signs_from']));
    expect(begins - Date.parse(String(shown['issued_at']))).toBe(3_600_000);
    expect(shown['replaced_valid_until']).toEqual([new Date(begins + 86_400_000).toISOString()]);

    const expectSigned = async (
      current: string,
      previous: string | undefined,
      others: readonly string[],
    ): Promise<void> => {
      const arrival = await deliver(client);
      const { headers } = arrival;
      // Python starts once for each secret: a start takes as long as a creation.
      const made = new Map([current, ...others].map((secret) => [secret, byPython(secret, arrival)]));
      expect(headers['x-webhook-signature-256']).toBe(made.get(current)?.[0]);
      expect(headers['x-webhook-signature-256-previous']).toBe(previous && made.get(previous)?.[0]);
      const values = [...made.values()].map(([, standard]) => standard);
      expect(headers['webhook-signature']?.split(' ')).toEqual(values);
    };
    const [old, rotated] = [client.webhookSecret, String(shown['secret'])];
    await expectSigned(old, undefined, [rotated]);
    service.jump(3_600);
    await expectSigned(rotated, old, [old]);
    service.jump(86_400 - 60);
    await expectSigned(rotated, old, [old]);
    service.jump(60);
    await expectSigned(rotated, undefined, []);
  });
});
