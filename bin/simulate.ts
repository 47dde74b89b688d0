/**
 * npm run simulate -- --seeds N [--from M]      N seeds on two processors
 *                     --seed N --trace          one seed, twice, with its trace
 *                     --exhaustive [--pairs]    every call site times every fault; all pairs that move money
 *                     --mutants [name…]         the planted bugs, each until a seed catches it
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** What test/simulation/jobs.ts says; kept apart, since nothing that runs depends on a test. */
type Message =
  | { kind: 'ran'; seeds: number; faults: number; sites: string[]; struck: string[]; slowest: { seed: number; millis: number } }
  | { kind: 'failed'; report: { seed: number; violation: { invariant: string; detail: string }; faults: object[]; steps: string[]; tail: string[] } }
  | { kind: 'traced'; lines: string[]; hashes: [string, string]; violations: object[] }
  | { kind: 'done' };

const worker = fileURLToPath(new URL('../test/simulation/worker.ts', import.meta.url));
const mutantSeeds = 1_000;
const progressMillis = 5_000;
const mostReports = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    exhaustive: { type: 'boolean', default: false },
    pairs: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
  },
});

/** Rejects when the worker ends without having done its job. */
function runWorker(job: object, hear: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = false;
    const child = fork(worker, [JSON.stringify(job)], { execArgv: ['--disable-warning=ExperimentalWarning'] });
    child.on('message', (message: Message) => {
      if (message.kind === 'done') done = true;
      hear(message);
    });
    child.on('exit', (code) => (done ? resolve() : reject(new Error(`a worker ended with ${code ?? 'a signal'}`))));
  });
}

/** Counts what the workers say, and prints it from time to time. */
class Progress {
  readonly #began = performance.now();
  readonly #sites = new Set<string>();
  readonly #struck = new Set<string>();
  #seeds = 0;
  #faults = 0;
  #slowest = { seed: 0, millis: 0 };
  failures = 0;

  hear(message: Message): void {
    if (message.kind === 'failed') this.#report(message.report);
    if (message.kind !== 'ran') return;
    this.#seeds += message.seeds;
    this.#faults += message.faults;
    for (const site of message.sites) this.#sites.add(site);
    for (const site of message.struck) this.#struck.add(site);
    if (message.slowest.millis > this.#slowest.millis) this.#slowest = message.slowest;
  }

  print(): void {
    const seconds = (performance.now() - this.#began) / 1000;
    const { seed, millis } = this.#slowest;
    console.log(
      `${this.#seeds} runs in ${seconds.toFixed(0)} s (${(this.#seeds / seconds).toFixed(1)}/s) · ${this.#faults} faults injected · ` +
        `${this.#struck.size} of ${this.#sites.size} call sites struck · slowest: seed ${seed}, ${millis} ms · ${this.failures} failed`,
    );
  }

  /** Sites that were called and that no fault struck. */
  printUnstruck(): void {
    const unstruck = [...this.#sites].filter((site) => !this.#struck.has(site)).sort();
    if (unstruck.length > 0) console.log(`Not struck by any fault:\n  ${unstruck.join('\n  ')}`);
  }

  #report({ seed, violation, faults, steps, tail }: Extract<Message, { kind: 'failed' }>['report']): void {
    this.failures += 1;
    if (this.failures > mostReports) return;
    console.log(`\nVIOLATION with seed ${seed}: ${violation.invariant}\n  ${violation.detail}`);
    console.log(`Shrunk to ${steps.length} steps and ${faults.length} faults:`);
    for (const step of steps) console.log(`  ${step}`);
    for (const fault of faults) console.log(`  ${JSON.stringify(fault)}`);
    console.log(`The end of its trace:\n  ${tail.join('\n  ')}`);
    console.log(`Replay: npm run simulate -- --seed ${seed} --trace\n`);
  }
}

async function inWorkers(jobOf: (index: number, of: number) => object): Promise<boolean> {
  const progress = new Progress();
  const timer = setInterval(() => { progress.print(); }, progressMillis);
  const workers = Number(values.workers);
  await Promise.all(Array.from({ length: workers }, (_, index) => runWorker(jobOf(index, workers), (message) => { progress.hear(message); })));
  clearInterval(timer);
  progress.print();
  progress.printUnstruck();
  return progress.failures === 0;
}

async function traceSeed(seed: number): Promise<boolean> {
  let isGood = false;
  await runWorker({ kind: 'trace', seed }, (message) => {
    if (message.kind !== 'traced') return;
    if (values.trace) console.log(message.lines.join('\n'));
    console.log(`hash ${message.hashes[0]}\n     ${message.hashes[1]}`);
    for (const violation of message.violations) console.log('VIOLATION', JSON.stringify(violation));
    isGood = message.violations.length === 0 && message.hashes[0] === message.hashes[1];
  });
  return isGood;
}

/** The names in test/simulation/mutants.ts, read as text for the same reason. */
function mutantNames(): string[] {
  const text = readFileSync(new URL('../test/simulation/mutants.ts', import.meta.url), 'utf8');
  return [...text.matchAll(/\{ name: '([\w-]+)'/g)].flatMap(([, name]) => name ?? []);
}

async function catchMutants(only: readonly string[]): Promise<boolean> {
  const names = mutantNames().filter((name) => only.length === 0 || only.includes(name));
  const queue = names.values();
  let missed = 0;
  const lane = async (): Promise<void> => {
    for (const name of queue) {
      let caught = '';
      await runWorker({ kind: 'seeds', from: 0, to: mutantSeeds, every: 1, stopAtFirst: true, mutant: name }, (message) => {
        if (message.kind === 'failed') caught = `seed ${message.report.seed}: ${message.report.violation.invariant}`;
      });
      if (caught === '') missed += 1;
      console.log(`${name.padEnd(32)} ${caught === '' ? `MISSED in ${mutantSeeds} seeds` : caught}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, lane));
  console.log(`${names.length - missed} of ${names.length} caught`);
  return missed === 0 && names.length > 0;
}

async function main(): Promise<boolean> {
  if (values.seed !== undefined) return traceSeed(Number(values.seed));
  if (values.mutants) return catchMutants(positionals);
  if (values.exhaustive || values.pairs) return inWorkers((index, of) => ({ kind: 'exhaustive', index, of, pairs: values.pairs }));
  const from = Number(values.from);
  const to = from + Number(values.seeds ?? 1_000);
  return inWorkers((index, of) => ({ kind: 'seeds', from: from + index, to, every: of, stopAtFirst: false }));
}

process.exitCode = (await main()) ? 0 : 1;
