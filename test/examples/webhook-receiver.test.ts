import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { signature256 } from '../../service/webhooks/webhook.ts';
import { readPage, root } from '../docs/pages.ts';
import { settled, submit } from '../whole/workflow/creations.ts';
import { startTestService } from '../fixtures/service.ts';

const program = join(root, 'client/examples/webhook-receiver.mjs');

interface Receiver {
  readonly url: string;
  printed(): string;
  end(): Promise<void>;
}

const service = await startTestService();
const client = await service.client();
const receiver = await startReceiver(client.webhookSecret);
afterAll(async () => {
  await receiver.end();
  await service.end();
});

async function startReceiver(secret: string): Promise<Receiver> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, DARKROOM_WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let printed = '';
  const listening = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += String(chunk);
      const url = /^listening on (\S+)\n/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  return {
    url: await listening,
    printed: () => printed,
    end: async () => {
      child.kill();
      await exited;
    },
  };
}

/** A webhook as the service signs it. */
async function post(id: string, secret = client.webhookSecret): Promise<number> {
  const body = JSON.stringify({ event: 'creation.completed', id, result_urls: [] });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'x-timestamp': timestamp,
    'x-webhook-signature-256': signature256(secret, timestamp, body),
    'webhook-id': `${id}:creation.completed`,
  };
  return (await fetch(receiver.url, { method: 'POST', headers, body })).status;
}

describe('The example program that receives webhooks', () => {
  it('The program prints the event of a creation and answers 200', async () => {
    const id = await submit(service, client.key, { prompt: 'a lake', webhook_url: receiver.url });
    const { webhook } = await settled(service, id);
    expect(webhook?.status).toBe('delivered');
    expect(receiver.printed()).toMatch(new RegExp(`^creation\\.completed {2}${id} {2}http\\S+$`, 'm'));
  });

  it('The program answers 401 to a webhook with a wrong signature and prints nothing of it', async () => {
    expect(await post('forged', `${client.webhookSecret}x`)).toBe(401);
    expect(receiver.printed()).not.toContain('forged');
  });

  it('The program prints an event that arrives twice once', async () => {
    expect([await post('twice'), await post('twice')]).toEqual([200, 200]);
    await expect.poll(() => receiver.printed()).toContain('twice');
    expect(receiver.printed().match(/twice/g)).toHaveLength(1);
  });

  it('The program refuses to start without a secret and says which variable is missing', async () => {
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, DARKROOM_WEBHOOK_SECRET: '' },
    });
    let complained = '';
    child.stderr.on('data', (chunk: Buffer) => (complained += String(chunk)));
    await once(child, 'close');
    expect(child.exitCode).toBe(1);
    expect(complained).toContain('DARKROOM_WEBHOOK_SECRET');
  });

  it('The program verifies with the function of docs/client-webhooks.md, word for word', () => {
    const sample =
      readPage('docs/client-webhooks.md').blocks.find(({ text }) => text.includes('isFromDarkroom'))?.text ??
      '';
    const verify = sample.slice(sample.indexOf('/**')).replace('export function', 'function');
    expect(verify).toContain('isFromDarkroom');
    expect(readFileSync(program, 'utf8')).toContain(verify);
  });
});
