/** `npm run lab -- bundles`: the size and the import time of every function's bundle, beside a bare handler. */
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Command } from 'commander';
import pc from 'picocolors';
import { createOutput, type Output, type Row } from '../../client/command/terminal/output.ts';
import { wholeNumber } from '../../client/command/terminal/whole-number.ts';
import { type LocalFunction, readTemplate } from '../../local/template.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { functionName } from '../function-name.ts';

const execute = promisify(execFile);

/** Resolves with whether every bundle is within its limit. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false, runs } = new Command('npm run lab -- bundles')
    .description('Measure the size and the import time of the bundle of every function')
    .option('--runs <number>', 'how often each bundle is imported', '15')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ runs: string; json?: boolean }>();
  const output = createOutput(json, (line) => console.log(line));
  return benchBundles(wholeNumber('--runs', runs), output, (line) => {
    if (process.stderr.isTTY) console.error(pc.dim(line));
  });
}

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
async function benchBundles(runs: number, output: Output, tell: Tell): Promise<boolean> {
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

/**
 * Prints the milliseconds of one import. Node caches an imported module, so each measurement has its own
 * process.
 */
const measure = `
  const began = performance.now();
  const { handler } = await import(process.argv[1]);
  const millis = performance.now() - began;
  if (typeof handler !== 'function') throw new Error('the bundle has no handler');
  process.stdout.write(String(millis));
  process.exit(0);
`;

/** The milliseconds of one import. Throws when the bundle cannot be imported. */
async function importMillis(module: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const { stdout } = await execute(
    process.execPath,
    ['--input-type=module', '-e', measure, pathToFileURL(module).href],
    {
      env: {
        ...environment,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      },
    },
  );
  return Number(stdout);
}

/** Gives `work` the path of a handler that does nothing. Its import time is the share of Node itself. */
async function withBareHandler<Result>(work: (module: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-bare-'));
  try {
    const module = join(folder, 'index.mjs');
    await writeFile(module, 'export const handler = async () => ({ statusCode: 204 });\n');
    return await work(module);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
