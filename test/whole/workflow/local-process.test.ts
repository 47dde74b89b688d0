/** How the process of `npm start` starts and ends. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { portOf } from '../../fixtures/values.ts';
import { spawnLocal, startChild } from './child-service.ts';
import { recordWhen, submit } from './creations.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-process-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the process of npm start', () => {
  it('The process ends at Ctrl-C without waiting for a rendering that hangs, and the rendering goes on at the next start', async () => {
    const first = await startChild(folder);
    const id = await submit(first, first.key, { prompt: 'a lake [sandbox:hang]' });
    await recordWhen(first, id, ({ attempts }) => attempts.length === 1);
    // The rendering hangs for five minutes, longer than a test may take.
    expect(await first.end('SIGINT')).toBe(0);

    const second = await startChild(folder);
    try {
      expect(await recordWhen(second, id, ({ status }) => status === 'failed')).toMatchObject({
        refundedMicros: 10_000,
      });
    } finally {
      await second.kill();
    }
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

  it('The process exits with code 1 and one sentence when the folder is in use, and leaves the running service alone', async () => {
    const holder = await startChild(folder);
    try {
      const child = spawnLocal('--data', folder, '--port', '0');
      const said = text(child.stderr);
      const [code] = (await once(child, 'exit')) as [number];
      expect(code).toBe(1);
      const complaint = await said;
      expect(complaint).toMatch(/^[^\n]*already runs on[^\n]*\n$/);
      expect(complaint).toContain(folder);
      expect((await fetch(`${holder.localUrl}/state`)).status).toBe(200);
    } finally {
      await holder.kill();
    }
  });
});
