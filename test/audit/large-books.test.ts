/** The memory of the audit does not grow with the books. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

const creations = 400_000;
/** The thread itself takes half of this. One creation of a hundred bytes for each of the books would not fit. */
const heapMegabytes = 24;

it('An account with 400,000 creations is audited in 24 MB, and its one wrong cent is found', async () => {
  const thread = new Worker(new URL('large-books-worker.ts', import.meta.url), {
    workerData: creations,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 8 },
  });
  const [audited] = (await once(thread, 'message')) as [Record<string, unknown>];
  expect(audited).toMatchObject({ creations, rows: creations * 1.125, isSettled: true });
  const [difference] = audited['differences'] as { what: string; expected: number; found: number }[];
  expect(audited['differences']).toHaveLength(1);
  expect([difference?.what, (difference?.found ?? 0) - (difference?.expected ?? 0)]).toEqual([
    'available',
    10_000,
  ]);
});
