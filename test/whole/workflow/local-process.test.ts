/** The one machine on a full disk, below the floor and at a write that fails, and the end of its process. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpPath, openaiRoot } from '../../../service/contract/operations.ts';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import { synthesizedTemplate } from '../../../start/synthesized-template.ts';
import { differencesIn } from '../../fixtures/books.ts';
import { startTestService, type TestService } from '../../fixtures/service.ts';
import { type ChildService, spawnOnFullDisk, startChild, spawnLocal } from './child-service.ts';
import { settled, recordWhen, submit } from './creations.ts';
import { portOf } from '../../fixtures/values.ts';

const order = { model: 'sandbox-sketch', prompt: 'a lake' };

describe('below the floor of free space', () => {
  let free = Infinity;
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ minFreeBytes: 1_000, freeBytes: () => free });
  });
  afterAll(() => service.end());

  const post = async (path: string, body: object): Promise<Response> =>
    fetch(new URL(path, service.machine.apiUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.demo.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(body),
    });
  const call = (name: string, args: object): Promise<Response> =>
    post(mcpPath, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const available = async (): Promise<number> =>
    (await service.account(service.demo.accountId)).availableMicros;

  it('new work is refused with 503 at every door and charges nothing, reads and open work go on, and work is taken again when there is room', async () => {
    const open = await service.send('/images/generate', { body: order });
    expect(open.status).toBe(202);
    const before = await available();
    free = 999;

    const refused = await service.send('/images/generate', { body: order });
    expect(refused.status).toBe(503);
    expect(refused.body).toEqual({
      error: {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        message:
          'The service has no room for new work at the moment. Nothing was charged: send the request again later.',
        details: { reason: 'overloaded' },
      },
    });
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(refused.headers.get('x-request-id')).toMatch(/./);
    const upload = await service.send('/uploads', { body: { content_type: 'image/png', bytes: 100 } });
    const images = await post(`${openaiRoot}/images/generations`, order);
    const tool = await call('generate_image', order);
    expect([upload.status, images.status, tool.status]).toEqual([503, 503, 503]);
    expect(await images.json()).toMatchObject({ error: { type: 'server_error', code: 'overloaded' } });
    expect(await available()).toBe(before);

    const quote = await service.send('/images/quote', { body: order });
    const models = await service.send('/models');
    const balance = await call('get_balance', {});
    expect([quote.status, models.status, balance.status]).toEqual([200, 200, 200]);
    const { id } = JSON.parse(open.text) as { readonly id: string };
    expect(await service.ended(id)).toMatchObject({ status: 'completed' });

    free = 1_000;
    expect((await service.send('/images/generate', { body: order })).status).toBe(202);
    expect(await service.audit()).toEqual([]);
  });
});

describe('the process of npm start', () => {
  let folder: string;
  let child: ChildService;
  beforeAll(async () => {
    // The synthesis writes larger files than the tests allow.
    await synthesizedTemplate();
    folder = await mkdtemp(join(tmpdir(), 'darkroom-process-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('On a full disk the process ends with one sentence and exit code 74, and the books balance after the next start', async () => {
    const full = await startChild(folder, {}, spawnOnFullDisk(1_000));
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, key) => [`key${key}`, 'x'.repeat(500)]),
    );
    const ordered: string[] = [];
    const send = async (): Promise<boolean> => {
      try {
        const response = await fetch(`${full.machine.apiUrl}/images/generate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${full.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...order, metadata }),
        });
        const { id } = (await response.json()) as { readonly id?: string };
        if (id !== undefined) ordered.push(id);
        return true;
      } catch {
        return false; // The process has ended.
      }
    };
    while (await send());
    expect(await full.died()).toBe(74);
    expect(full.complaints()).toMatch(
      /(^|\n)The (tables|records) in \S+ take no more writes \(EFBIG: .*\): make room on the disk or repair it, and start the service again\.\n$/,
    );

    child = await startChild(folder);
    await child.advance(900);
    expect(ordered.length).toBeGreaterThan(3);
    for (const id of ordered) await settled(child, id);
    expect(await differencesIn(child.operator.table)).toEqual([]);
  });

  it('The process ends at a signal without waiting for a rendering that hangs, and what the sandbox was rendering completes after the next start', async () => {
    // The process that the test before has started.
    let running = child;
    const open: CreationRecord[] = [];
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // The first rendering hangs for five minutes, longer than a test may take.
      for (const prompt of ['a lake [sandbox:hang]', 'a lake [sandbox:delay=4s]']) {
        const id = await submit(running, running.key, { prompt });
        const record = await recordWhen(running, id, ({ attempts }) => attempts.length === 1);
        if (prompt.includes('delay')) open.push(record);
      }
      expect(await running.end(signal)).toBe(0);
      running = await startChild(folder);
    }
    for (const { id, attempts } of open)
      expect(await settled(running, id)).toMatchObject({
        ...{ status: 'completed', refundedMicros: 0 },
        attempts: [{ ...attempts[0], outcome: 'rendered' }],
      });
    expect(await running.end('SIGTERM')).toBe(0);
  });

  it('On a full disk a start ends with one sentence and exit code 74', async () => {
    const child = spawnOnFullDisk(0)('--data', folder, '--port', '0');
    const [complaint] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(child.exitCode).toBe(74);
    expect(complaint).toMatch(
      /^The files in \S+ take no more writes \(EFBIG: .*\): make room on the disk or repair it, and start the service again\.\n$/,
    );
  });

  it('The process exits with code 1 and one sentence when the port is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = portOf(holder);
    const child = spawnLocal('--data', folder, '--port', String(port));
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, 'exit')) as [number];
    const [out, complaint] = await said;
    holder.close();
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(complaint).toMatch(new RegExp(`^[^\\n]*${port}[^\\n]*\\n$`));
  });
});
