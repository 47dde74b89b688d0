/**
 * The command `npm run simulate`: its flags, and which kind of run each flag starts. bin/simulate.ts lists
 * them.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../terminal/whole-number.ts';
import { killRepeatedly, runWorker } from './child-processes.ts';
import type { Job, Report } from './messages.ts';
import { crowdSituations, simulateCrowd } from './load/crowd/crowd-command.ts';
import { simulateLoad } from './load/load-command.ts';
import { printOutage, printReport, Progress } from './report.ts';
import { mutants, type Mutant } from './runs/mutants.ts';

const mutantSeeds = 1_000;
const progressMillis = 5_000;

const options = {
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
  flapping: { type: 'boolean', default: false },
  outage: { type: 'boolean', default: false },
  of: { type: 'string', default: 'starts' },
  load: { type: 'string' },
  rate: { type: 'string' },
  minutes: { type: 'string' },
  seconds: { type: 'string', default: '15' },
  vendor: { type: 'string' },
  quotas: { type: 'string' },
  accounts: { type: 'string' },
  capacity: { type: 'string' },
  start: { type: 'string', default: 'warm' },
  way: { type: 'string' },
  json: { type: 'boolean', default: false },
  kill: { type: 'string' },
  workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
} as const;

const parse = (args: string[]) => parseArgs({ args, allowPositionals: true, options });
type Flags = ReturnType<typeof parse>['values'];

/** Runs what the arguments ask for. Resolves with whether everything held. */
export async function simulate(args: string[]): Promise<boolean> {
  const { values: flags, positionals } = parse(args);
  if (flags.kill !== undefined)
    return killRepeatedly(
      String(wholeNumber('--kill', flags.kill)),
      String(wholeNumber('--seed', flags.seed ?? '1', 0)),
    );
  const { load } = flags;
  if (load !== undefined)
    return crowdSituations.includes(load)
      ? simulateCrowd({ ...flags, load })
      : simulateLoad({ ...flags, load });
  if (flags.seed !== undefined) return traceSeed(wholeNumber('--seed', flags.seed, 0), flags);
  if (flags.outage) return runOutage(flags.of);
  if (flags.mutants) return catchMutants(positionals, flags);
  if (flags.conflicts !== undefined) return runCrowds(flags.conflicts, flags);
  if (flags.exhaustive || flags.pairs) return runExhaustive(flags);
  return runSeeds(flags);
}

function runSeeds(flags: Flags): Promise<boolean> {
  const from = wholeNumber('--from', flags.from, 0);
  const to = from + wholeNumber('--seeds', flags.seeds ?? '1000');
  return inWorkers(flags, (index, of) => ({
    kind: 'seeds',
    from: from + index,
    to,
    every: of,
    stopAtFirst: false,
    flapping: flags.flapping,
    ...mutantOf(flags),
  }));
}

function runExhaustive(flags: Flags): Promise<boolean> {
  return inWorkers(flags, (index, of) => ({ kind: 'exhaustive', index, of, pairs: flags.pairs }));
}

/** Takes StartExecution, or the room of Lambda for Tasks, away for ten minutes. */
async function runOutage(of: string): Promise<boolean> {
  if (of !== 'starts' && of !== 'tasks') {
    console.error(`--of: ${JSON.stringify(of)} must be starts or tasks.`);
    return false;
  }
  let isGood = false;
  await runWorker({ kind: 'outage', of }, (message) => {
    if (message.kind !== 'outage') return;
    printOutage(message.report);
    isGood = message.wrong.length === 0;
    for (const line of message.wrong) console.log(`VIOLATION ${line}`);
  });
  return isGood;
}

/** Runs crowds of clients whose writes meet conflicts. Each worker answers its share of the requests. */
function runCrowds(text: string, flags: Flags): Promise<boolean> {
  const conflicts = Number(text);
  if (text.trim() === '' || !(conflicts >= 0 && conflicts < 1)) {
    console.error(`--conflicts: ${JSON.stringify(text)} must be a probability from 0, below 1.`);
    return Promise.resolve(false);
  }
  const requests = wholeNumber('--requests', flags.requests);
  const from = wholeNumber('--from', flags.from, 0);
  return inWorkers(flags, (index, of) => ({
    kind: 'crowds',
    from: from + index,
    every: of,
    requests: Math.ceil(requests / of),
    conflicts,
    ...mutantOf(flags),
  }));
}

/** Divides the work among worker processes, and prints the progress and the totals. */
async function inWorkers(flags: Flags, jobOf: (index: number, of: number) => Job): Promise<boolean> {
  const progress = new Progress();
  const timer = setInterval(() => {
    progress.print();
  }, progressMillis);
  const workers = wholeNumber('--workers', flags.workers);
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
  if (flags.conflicts !== undefined) progress.printAnswers();
  else progress.printUnstruck();
  return progress.failures === 0;
}

/** Runs one seed twice. Both runs must give the same trace, and neither may break an invariant. */
async function traceSeed(seed: number, flags: Flags): Promise<boolean> {
  let isGood = false;
  await runWorker({ kind: 'trace', seed, flapping: flags.flapping, ...mutantOf(flags) }, (message) => {
    if (message.kind !== 'traced') return;
    if (flags.trace) console.log(message.lines.join('\n'));
    console.log(`hash ${message.hashes[0]}\n     ${message.hashes[1]}`);
    if (message.report) printReport(message.report, flags.mutant);
    isGood = message.violations.length === 0 && message.hashes[0] === message.hashes[1];
  });
  return isGood;
}

/**
 * Plants each bug and prints the first seed that catches it. Without names in `only` it plants all of them.
 */
async function catchMutants(only: readonly string[], flags: Flags): Promise<boolean> {
  const wanted = mutants.filter(({ name }) => only.length === 0 || only.includes(name));
  const queue = wanted.values();
  let missed = 0;
  const runLane = async (): Promise<void> => {
    for (const mutant of queue) {
      const caught = await firstCatch(mutant);
      if (caught === undefined) missed += 1;
      console.log(`${mutant.name.padEnd(32)} ${caught ?? `MISSED in ${mutantSeeds} seeds`}`);
    }
  };
  await Promise.all(Array.from({ length: wholeNumber('--workers', flags.workers) }, runLane));
  console.log(`${wanted.length - missed} of ${wanted.length} caught`);
  return missed === 0 && wanted.length > 0;
}

async function firstCatch({ name, flapping }: Mutant): Promise<string | undefined> {
  let caught: string | undefined;
  await runWorker(
    {
      kind: 'seeds',
      from: 0,
      to: mutantSeeds,
      every: 1,
      stopAtFirst: true,
      mutant: name,
      ...(flapping && { flapping }),
    },
    (message) => {
      if (message.kind === 'failed') caught = describeCatch(message.report);
    },
  );
  return caught;
}

/** The seed that caught a planted bug, how small the scenario became, and which invariant broke. */
function describeCatch({ seed, violation, found, steps, faults }: Report): string {
  const shrunk = `${found.steps} → ${steps.length} steps, ${found.faults} → ${faults.length} faults`;
  return `seed ${String(seed ?? '').padEnd(4)} ${shrunk.padEnd(32)} ${violation.invariant}`;
}

function mutantOf({ mutant }: Flags): { mutant?: string } {
  return mutant === undefined ? {} : { mutant };
}
