/** docs/cost.md holds what is measured here. `npm run cost` writes the page again when counts change. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { billFor, totalOf } from '../../../lab/cost/bill.ts';
import { type CreationCount, type CreationKind, measure } from '../../../lab/cost/measure.ts';
import { memoryOf } from '../../../lab/cost/resources.ts';

const kind: CreationKind = 'success, webhook, Idempotency-Key';
/** Two take the lease. The others are of the attempt, of the health of the route, and of the counters of open creations. */
const updatesOfOne = 5;
const page = readFileSync(new URL('../../../docs/cost.md', import.meta.url), 'utf8');

/**
 * Cells of the table of counts in docs/cost.md: function, invocations, CPU, read units, write units, calls.
 */
function rowsOf(wanted: CreationKind): string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith(`| ${wanted} | `));
  return rows.map((line) =>
    line
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()),
  );
}

/**
 * The count without renewals of the lease. On a busy machine the rendering takes more than two seconds, and
 * the lease is renewed: one call and one write unit, which docs/cost.md counts as waiting.
 */
function withoutRenewals(count: CreationCount): CreationCount {
  const { RenderImageSmall: render, ...others } = count.functions;
  if (!render) throw new Error('nothing was rendered');
  const update = 'dynamodb UpdateItem';
  const renewals = (render.calls.get(update) ?? 0) - updatesOfOne;
  const calls = new Map([...render.calls, [update, updatesOfOne]]);
  return {
    ...count,
    functions: {
      ...others,
      RenderImageSmall: { ...render, calls, writeUnits: render.writeUnits - renewals },
    },
  };
}

it('A success with webhook and Idempotency-Key takes two transitions, the units that docs/cost.md says, and at most 0.085 USD for 1,000', async () => {
  const { kinds } = await measure(2, () => undefined, [kind]);
  const count = withoutRenewals(kinds[kind]);
  expect(count.transitions).toBe(2);
  const measured = Object.entries(count.functions).map(([name, one]) => [
    name,
    String(one.readUnits),
    String(one.writeUnits),
  ]);
  expect(measured.sort()).toEqual(
    rowsOf(kind)
      .map(([name, , , read, write]) => [name, read, write])
      .sort(),
  );
  // CPU time depends on the machine, so the test takes the figures of docs/cost.md.
  const cpu = new Map(
    rowsOf('failure, webhook')
      .concat(rowsOf(kind))
      .map(([name, , millis]) => [name, Number(millis)]),
  );
  const functions = Object.fromEntries(
    Object.entries(count.functions).map(([name, one]) => [name, { ...one, cpuMillis: cpu.get(name) ?? 0 }]),
  );
  const ownRenderMillis = Number(
    rowsOf('failure, webhook').find(([name]) => name === 'RenderImageSmall')?.[2],
  );
  expect(totalOf(billFor({ ...count, functions }, await memoryOf(), ownRenderMillis))).toBeLessThanOrEqual(
    0.085,
  );
});
