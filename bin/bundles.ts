/**
 * `npm run bench:bundles`: size and import time of every function's bundle, with a bare
 * handler beside them for scale. Exit code 1 when one is above its limit.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import pc from 'picocolors';
import { readTemplate, type LocalFunction } from '../local/template.ts';
import { createOutput, type Row } from '../terminal/output.ts';
import { synthesizedTemplate } from '../start/synthesized-template.ts';
import { importMillis, withBareHandler } from '../tools/bundles/import-time.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

/** Minified, in KB of 1,000 bytes. RenderImage holds every vendor's adapter and the sandbox's painter. */
const mostKilobytes = (name: string): number => (name.startsWith('RenderImage') ? 700 : 350);
/** Of the API's functions, on two cores of a small server; a fact about one machine, so that it is shown and fails nothing. */
const wantedMillis = 50;

interface Bundle {
  readonly name: string;
  readonly module: string;
  readonly environment: LocalFunction['environment'];
}

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '15' }, json: { type: 'boolean', default: false } },
});

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** In turns, so that whatever else the machine does meets all of them alike. */
async function measureAll(
  bundles: readonly Bundle[],
  runs: number,
  tell: (line: string) => void,
): Promise<Map<string, number[]>> {
  const millis = new Map(bundles.map(({ name }) => [name, [] as number[]]));
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
    limit_kb: mostKilobytes(name),
    import_ms_min: Number((millis[0] ?? Number.NaN).toFixed(1)),
    import_ms_median: Number(median(millis).toFixed(1)),
    finding:
      kilobytes > mostKilobytes(name)
        ? 'too large'
        : median(millis) > wantedMillis && !name.startsWith('RenderImage')
          ? `above ${wantedMillis} ms here`
          : null,
  };
}

const tell = (line: string): void => {
  if (process.stderr.isTTY) console.error(pc.dim(line));
};
const { functions } = readTemplate(await synthesizedTemplate(tell));
await withBareHandler(async (module) => {
  const bare: Bundle = { name: 'a bare handler', module, environment: {} };
  const own = functions.map(({ id, codeFolder, environment }): Bundle => ({
    name: id.replace(/[0-9A-F]{8}$/, ''),
    module: join(codeFolder, 'index.mjs'),
    environment,
  }));
  const bundles = [bare, ...own.sort((a, b) => a.name.localeCompare(b.name))];
  const millis = await measureAll(bundles, wholeNumber('--runs', values.runs), tell);
  const rows = bundles.map((bundle) => rowOf(bundle, millis.get(bundle.name) ?? []));
  createOutput(values.json, (line) => {
    console.log(line);
  }).list(rows, 'The stack has no functions.');
  if (rows.some(({ finding }) => finding === 'too large')) process.exitCode = 1;
});
