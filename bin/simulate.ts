/**
 * npm run simulate -- --seeds N [--from M]      N seeds on two processors
 *                     --seed N --trace          one seed, twice, with its trace; shrunk when it fails
 *                     --seed N --mutant NAME    the same with a planted bug
 *                     --conflicts P [--requests N] [--from M]   crowds of clients; each single write meets a
 *                                               conflict with the probability P, until N requests were answered
 *                     --exhaustive [--pairs]    every call site times every fault; all pairs that move money
 *                     --mutants [name…]         the planted bugs, each until a seed catches it
 *                     --kill N [--seed M]       the service under load over sockets, killed N times
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { KillMessage, Message, Report } from '../simulation/messages.ts';
import { printReport, Progress } from '../simulation/report.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

const worker = fileURLToPath(new URL('../simulation/worker.ts', import.meta.url));
const killer = fileURLToPath(new URL('../simulation/kill/main.ts', import.meta.url));
const mutantSeeds = 1_000;
const progressMillis = 5_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    conflicts: { type: 'string' },
    requests: { type: 'string', default: '10000' },
    exhaustive: { type: 'boolean', default: false },
    pairs: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    kill: { type: 'string' },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
  },
});

/** Rejects when the worker ends without having done its job. */
function runWorker(job: object, hear: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = false;
    const child = fork(worker, [JSON.stringify(job)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    child.on('message', (message: Message) => {
      if (message.kind === 'done') done = true;
      hear(message);
    });
    child.on('exit', (code) =>
      done ? resolve() : reject(new Error(`a worker ended with ${code ?? 'a signal'}`)),
    );
  });
}

async function inWorkers(jobOf: (index: number, of: number) => object): Promise<boolean> {
  const progress = new Progress();
  const timer = setInterval(() => {
    progress.print();
  }, progressMillis);
  const workers = wholeNumber('--workers', values.workers);
  await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      runWorker(jobOf(index, workers), (message) => {
        progress.hear(message);
      }),
    ),
  );
  clearInterval(timer);
  progress.print();
  progress.printKinds();
  if (values.conflicts !== undefined) progress.printAnswers();
  else progress.printUnstruck();
  return progress.failures === 0;
}

/** Crowds under conflicts: each worker answers its part of the requests. */
function crowds(text: string): Promise<boolean> {
  const conflicts = Number(text);
  if (text.trim() === '' || !(conflicts >= 0 && conflicts < 1)) {
    console.error(`--conflicts: ${JSON.stringify(text)} must be a probability from 0, below 1.`);
    return Promise.resolve(false);
  }
  const requests = wholeNumber('--requests', values.requests);
  const from = wholeNumber('--from', values.from, 0);
  return inWorkers((index, of) => ({
    kind: 'crowds',
    from: from + index,
    every: of,
    requests: Math.ceil(requests / of),
    conflicts,
    ...(values.mutant !== undefined && { mutant: values.mutant }),
  }));
}

async function traceSeed(seed: number): Promise<boolean> {
  let isGood = false;
  await runWorker(
    { kind: 'trace', seed, ...(values.mutant !== undefined && { mutant: values.mutant }) },
    (message) => {
      if (message.kind !== 'traced') return;
      if (values.trace) console.log(message.lines.join('\n'));
      console.log(`hash ${message.hashes[0]}\n     ${message.hashes[1]}`);
      if (message.report) printReport(message.report, values.mutant);
      isGood = message.violations.length === 0 && message.hashes[0] === message.hashes[1];
    },
  );
  return isGood;
}

/** The names in simulation/runs/mutants.ts, read as text for the same reason. */
function mutantNames(): string[] {
  const text = readFileSync(new URL('../simulation/runs/mutants.ts', import.meta.url), 'utf8');
  return [...text.matchAll(/\{\s*name: '([\w-]+)'/g)].flatMap(([, name]) => name ?? []);
}

/** Which seed caught a planted bug, in how small a scenario it still shows, and by what. */
function caughtBy({ seed, violation, found, steps, faults }: Report): string {
  const shrunk = `${found.steps} → ${steps.length} steps, ${found.faults} → ${faults.length} faults`;
  return `seed ${String(seed ?? '').padEnd(4)} ${shrunk.padEnd(32)} ${violation.invariant}`;
}

async function catchMutants(only: readonly string[]): Promise<boolean> {
  const names = mutantNames().filter((name) => only.length === 0 || only.includes(name));
  const queue = names.values();
  let missed = 0;
  const lane = async (): Promise<void> => {
    for (const name of queue) {
      let caught = '';
      await runWorker(
        { kind: 'seeds', from: 0, to: mutantSeeds, every: 1, stopAtFirst: true, mutant: name },
        (message) => {
          if (message.kind === 'failed') caught = caughtBy(message.report);
        },
      );
      if (caught === '') missed += 1;
      console.log(`${name.padEnd(32)} ${caught === '' ? `MISSED in ${mutantSeeds} seeds` : caught}`);
    }
  };
  await Promise.all(Array.from({ length: wholeNumber('--workers', values.workers) }, lane));
  console.log(`${names.length - missed} of ${names.length} caught`);
  return missed === 0 && names.length > 0;
}

/** The rounds of --kill; a line a round. */
async function killAgainAndAgain(rounds: string, seed: string): Promise<boolean> {
  const child = fork(killer, [rounds, seed], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  let isGood = false;
  child.on('message', (message: KillMessage) => {
    if (message.kind === 'line') console.log(message.line);
    else {
      const { requests, retried, accepted, creations, webhooks, wrong } = message.report;
      for (const line of wrong) console.log(`VIOLATION ${line}`);
      console.log(
        `${rounds} kills: ${requests} requests, ${retried} of them again, ${accepted} accepted, ${creations} creations, ${webhooks} webhooks · ${wrong.length} violations`,
      );
      isGood = wrong.length === 0;
    }
  });
  await once(child, 'exit');
  return isGood;
}

async function main(): Promise<boolean> {
  if (values.kill !== undefined)
    return killAgainAndAgain(
      String(wholeNumber('--kill', values.kill)),
      String(wholeNumber('--seed', values.seed ?? '1', 0)),
    );
  if (values.seed !== undefined) return traceSeed(wholeNumber('--seed', values.seed, 0));
  if (values.mutants) return catchMutants(positionals);
  if (values.conflicts !== undefined) return crowds(values.conflicts);
  if (values.exhaustive || values.pairs)
    return inWorkers((index, of) => ({ kind: 'exhaustive', index, of, pairs: values.pairs }));
  const from = wholeNumber('--from', values.from, 0);
  const to = from + wholeNumber('--seeds', values.seeds ?? '1000');
  return inWorkers((index, of) => ({ kind: 'seeds', from: from + index, to, every: of, stopAtFirst: false }));
}

process.exitCode = (await main()) ? 0 : 1;
