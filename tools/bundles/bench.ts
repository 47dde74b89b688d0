/** `npm run lab -- bundles`: the size and the import time of the bundle of every function. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readTemplate, type LocalFunction } from '../../local/template.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import type { Output, Row } from '../../terminal/output.ts';
import { functionName } from '../function-name.ts';
import { importMillis, withBareHandler } from './import-time.ts';

/**
 * The largest minified bundle, in KB of 1,000 bytes. RenderImage contains the adapters of all vendors and the
 * painter of the sandbox. Mcp contains the SDK of the protocol and the operations of seven tools.
 */
const limitKilobytes = (name: string): number => {
  if (name.startsWith('RenderImage')) return 450;
  return name === 'Mcp' ? 750 : 350;
};
/**
 * The wanted import time of the API's functions, on a small server with two cores. A slower machine may take
 * longer, so a longer time is shown and is no failure.
 */
const wantedMillis = (name: string): number => (name === 'Mcp' ? 100 : 50);

interface Bundle {
  readonly name: string;
  readonly module: string;
  readonly environment: LocalFunction['environment'];
}

type Tell = (line: string) => void;

/** Measures all bundles and prints them. True when every bundle is within its limit. */
export async function benchBundles(runs: number, output: Output, tell: Tell): Promise<boolean> {
  const { functions } = readTemplate(await synthesizedTemplate(tell));
  return withBareHandler(async (module) => {
    const bare: Bundle = { name: 'a bare handler', module, environment: {} };
    const own = functions.map(({ id, codeFolder, environment }): Bundle => ({
      name: functionName(id),
      module: join(codeFolder, 'index.mjs'),
      environment,
    }));
    const bundles = [bare, ...own.sort((a, b) => a.name.localeCompare(b.name))];
    const millis = await measureAll(bundles, runs, tell);
    const rows = bundles.map((bundle) => rowOf(bundle, millis.get(bundle.name) ?? []));
    output.list(rows, 'The stack has no functions.');
    return rows.every(({ finding }) => finding !== 'too large');
  });
}

/** The bundles take turns, so that other work on the machine slows down all of them alike. */
async function measureAll(
  bundles: readonly Bundle[],
  runs: number,
  tell: Tell,
): Promise<Map<string, number[]>> {
  const millis = new Map(bundles.map(({ name }): [string, number[]] => [name, []]));
  for (let run = 1; run <= runs; run += 1) {
    tell(`run ${run} of ${runs} …`);
    for (const { name, module, environment } of bundles)
      millis.get(name)?.push(await importMillis(module, environment));
  }
  for (const all of millis.values()) all.sort((a, b) => a - b);
  return millis;
}

function rowOf({ name, module }: Bundle, millis: readonly number[]): Row {
  const kilobytes = statSync(module).size / 1000;
  return {
    function: name,
    kb: Math.round(kilobytes),
    kb_gzip: Math.round(gzipSync(readFileSync(module)).byteLength / 1000),
    limit_kb: limitKilobytes(name),
    import_ms_min: Number((millis[0] ?? Number.NaN).toFixed(1)),
    import_ms_median: Number(median(millis).toFixed(1)),
    finding: findingOf(name, kilobytes, median(millis)),
  };
}

function findingOf(name: string, kilobytes: number, millis: number): string | null {
  if (kilobytes > limitKilobytes(name)) return 'too large';
  const wanted = wantedMillis(name);
  return millis > wanted && !name.startsWith('RenderImage') ? `above ${wanted} ms here` : null;
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
