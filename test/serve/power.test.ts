/** A power cut: what was not synced is lost, and nothing that was answered. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connect } from '../../admin/connect.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { checkWhole, generate, newKey } from './load.ts';
import { type Served, startServe } from './serve-child.ts';
import { watchFolder } from './unsynced.ts';

/** `POWER_CUTS=100 npm test -- test/serve/power` cuts more often, and `POWER_SEED` repeats a run. */
const cuts = Number(process.env['POWER_CUTS'] ?? 3);
const seed = Number(process.env['POWER_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Clients that wait for their pictures, and one that does not. Their last connections break. */
async function order(
  port: number,
  key: string,
  accepted: CreationId[],
  completed: CreationId[],
): Promise<void> {
  const client = async (prefer: string, pauseMillis: number): Promise<void> => {
    for (;;) {
      const { text } = await generate(port, key, 'a lake', { prefer });
      const { id, status } = JSON.parse(text) as { id: CreationId; status: string };
      (status === 'completed' ? completed : accepted).push(id);
      await sleep(pauseMillis);
    }
  };
  // A slow machine must render what the third client orders, or nobody gets a picture in time.
  const all = [client('wait=20', 100), client('wait=20', 100), client('respond-async', 1_000)];
  await Promise.all(all.map((one) => one.catch(() => undefined)));
}

it(
  `loses nothing that was answered, in ${cuts} cuts (seed ${seed})`,
  { timeout: 60_000 + cuts * 30_000 },
  async () => {
    const random = randomFrom(seed);
    const place = newFolder();
    const ids: CreationId[] = [];
    /** Those whose picture a client was answered. */
    const completed: CreationId[] = [];
    let key: string | undefined;
    for (let life = 0; life < cuts; life += 1) {
      const root = join(place, `life-${life}`);
      const work = join(place, `notes-${life}`);
      for (const folder of [root, work]) mkdirSync(folder, { recursive: true });
      const folder = join(root, 'data');
      const { cut, ...watched } = watchFolder(root, work);
      const served: Served = await startServe(folder, ['--min-free', '0'], undefined, watched);
      const operator = await connect({ data: folder });
      for (const id of ids) expect(await operator.creations.read(id), id).toBeDefined();
      for (const id of completed) expect((await operator.creations.read(id))?.status, id).toBe('completed');
      if (life > 0) expect(await operator.credentials.names()).toContain('openai');
      key ??= await newKey(folder);
      const before = [ids.length, completed.length] as const;
      const working = order(served.port, key, ids, completed);
      // Some cuts hit the first answers, and others a service whose pictures are known.
      const [awaited, atLeast] = random() < 0.3 ? [ids, before[0] + 1] : [completed, before[1] + 1];
      await expect
        .poll(() => awaited.length, { timeout: 60_000, interval: 5 })
        .toBeGreaterThanOrEqual(atLeast);
      await sleep(random() * 300);
      await operator.credentials.set('openai', `key of life ${life}`);
      await served.end('SIGKILL');
      await working;
      const next = join(place, `life-${life + 1}`);
      mkdirSync(next);
      cut(next, random);
      const started = readFileSync(join(next, 'data', 'executions.jsonl'), 'utf8');
      for (const id of ids) expect(started.includes(id), `the execution of ${id}`).toBe(true);
    }
    const folder = join(place, `life-${cuts}`, 'data');
    const served = await startServe(folder);
    await checkWhole(folder, served, [...ids, ...completed]);
    process.stderr.write(
      `${ids.length} accepted creations and ${completed.length} answered pictures in ${cuts} power cuts, none lost\n`,
    );
    await served.end();
  },
);
