/** A disk that is full under a service for others: a small file system of its own, so only where root may mount. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreationId } from '../../service/values/ids.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { checkWhole, generate, newKey } from './load.ts';
import { ask, type Served, startServe } from './serve-child.ts';

const megabyte = 1024 * 1024;
const disk = newFolder(afterAll);

function mounted(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], { stdio: 'ignore' });
    afterAll(() => void execFileSync('umount', ['--lazy', disk]));
    return true;
  } catch {
    return false;
  }
}

describe.runIf(mounted())('a full disk', () => {
  const folder = join(disk, 'data');
  const others = join(disk, 'others');
  const floor = ['--min-free', '16'];
  const ids: CreationId[] = [];
  let served: Served;
  let key = '';

  const freeBytes = (): number => statfsSync(disk).bavail * statfsSync(disk).bsize;
  /** Another program writes, until so many bytes are free. */
  function fill(bytes: number): void {
    for (let part = 0; freeBytes() - bytes >= 4_096; part += 1) {
      const file = join(others, `${Date.now()}-${part}`);
      try {
        writeFileSync(file, Buffer.alloc(Math.min(megabyte, freeBytes() - bytes)));
      } catch {
        return;
      }
    }
  }
  function makeRoom(): void {
    rmSync(others, { recursive: true });
    mkdirSync(others);
  }
  const readiness = async (): Promise<number> => (await ask(served.port, '/readyz')).status;
  async function balance(): Promise<unknown> {
    const headers = { authorization: `Bearer ${key}` };
    const { status, text } = await ask(served.port, '/api/public/v1/balance', { headers });
    expect(status, text).toBe(200);
    return (JSON.parse(text) as { balance_usd: unknown }).balance_usd;
  }
  async function accepted(prompt: string): Promise<void> {
    const { status, text } = await generate(served.port, key, prompt);
    expect(status, text).toBe(202);
    ids.push((JSON.parse(text) as { id: CreationId }).id);
  }

  beforeAll(async () => {
    mkdirSync(others);
    served = await startServe(folder, floor);
    key = await newKey(folder);
  }, 60_000);
  afterAll(async () => {
    await served.end();
  });

  it(
    'refuses new work with one clear error, charges nothing, and ends what it has accepted',
    { timeout: 60_000 },
    async () => {
      await accepted('a lake [sandbox:delay=1s]');
      const before = await balance();
      fill(8 * megabyte);
      await expect.poll(readiness).toBe(503);
      const { status, headers, text } = await generate(served.port, key);
      expect([status, headers['retry-after']]).toEqual([503, '30']);
      expect(JSON.parse(text)).toMatchObject({
        error: {
          code: 'ERR_PROVIDER_UNAVAILABLE',
          message: expect.stringContaining('no room for new work') as string,
          details: { reason: 'overloaded' },
        },
      });
      expect(await balance()).toBe(before);
      await checkWhole(folder, served, ids);
      expect(served.lines.filter(({ message }) => String(message).includes('--min-free'))).toHaveLength(1);
    },
  );

  it('takes new work again when there is room, without a restart', { timeout: 30_000 }, async () => {
    makeRoom();
    await expect.poll(readiness).toBe(200);
    await accepted('a lake');
    await checkWhole(folder, served, ids);
  });

  it(
    'ends with one sentence when no byte can be written, and goes on after a start with room',
    { timeout: 90_000 },
    async () => {
      await accepted('a lake [sandbox:delay=2s]');
      fill(0);
      const [code] = await served.exited;
      expect(code).toBe(74);
      expect(served.lines.at(-1)?.['message']).toMatch(
        /^The (tables|records) in \S+ take no more writes \(ENOSPC: .*\): make room on the disk or repair it, and start the service again\.$/,
      );
      // The reserve lets clients read. New work is refused.
      fill(0);
      expect(existsSync(join(folder, 'reserve'))).toBe(true);
      served = await startServe(folder, floor);
      expect(await readiness()).toBe(503);
      await balance();
      await served.end('SIGKILL');
      fill(0);
      await expect(startServe(folder, floor)).rejects.toThrow(
        /^The (files|tables|records) in \S+ take no more writes \(ENOSPC: .*\n$/,
      );
      makeRoom();
      served = await startServe(folder, floor);
      await accepted('a lake');
      await checkWhole(folder, served, ids);
    },
  );
});
