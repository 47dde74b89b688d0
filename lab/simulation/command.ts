/** The command `npm run simulate`: its flags, and which kind of run each flag starts. */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { wholeNumber } from '../../client/command/terminal/whole-number.ts';
import { type LoadFlags, simulateLoad } from './load/load-command.ts';
import { type ScaleFlags, scaleSituations, simulateScale } from './load/scale/scale-command.ts';
import type { Narrow } from './clients/narrow-scenarios.ts';
import type { Job, Report } from './messages.ts';
import { mutants } from './runs/mutants/all-mutants.ts';
import type { Mutant } from './runs/mutants/plant.ts';
import { killRepeatedly, printOutage, printReport, Progress, runWorker } from './workers.ts';

const mutantSeeds = 1_000;
const progressMillis = 5_000;

interface Flags extends Omit<LoadFlags, 'load'>, Omit<ScaleFlags, 'load'> {
  readonly seeds?: string;
  readonly from: string;
  readonly seed?: string;
  readonly trace?: boolean;
  readonly mutant?: string;
  readonly conflicts?: string;
  readonly requests: string;
  readonly exhaustive?: boolean;
  readonly pairs?: boolean;
  readonly mutants?: boolean;
  readonly flapping?: boolean;
  readonly payments?: boolean;
  readonly mails?: boolean;
  readonly outage?: boolean;
  readonly of: string;
  readonly load?: string;
  readonly kill?: string;
}

function commandLine(): Command {
  return new Command('npm run simulate --')
    .description('Play the service on virtual time against faults, and prove its promises')
    .argument('[names...]', 'with --mutants: the planted bugs; without names, all')
    .optionsGroup('Seeds:')
    .option('--seeds <number>', 'run so many seeds (1000)')
    .option('--from <seed>', 'the first seed', '0')
    .option('--flapping', 'run seeds in which providers go down and come back, and nothing else happens')
    .option('--payments', 'run seeds in which money comes in through Stripe')
    .option('--mails', 'run seeds in which people get notices by e-mail')
    .option('--seed <number>', 'run one seed twice, and shrink the run if it fails')
    .option('--trace', 'with --seed: print the trace')
    .option('--mutant <name>', 'with a planted bug')
    .optionsGroup('Planted bugs and single faults:')
    .option('--mutants', 'plant each bug, and run seeds until one of them catches it')
    .option('--exhaustive', 'strike every call site with every kind of fault')
    .option('--pairs', 'with --exhaustive: also every two calls that move money')
    .option('--conflicts <probability>', 'run crowds of clients whose single writes meet conflicts')
    .option('--requests <number>', 'with --conflicts: until so many requests were answered', '10000')
    .optionsGroup('Outages and kills:')
    .option('--outage', 'take StartExecution away for ten minutes at 100 creations a second')
    .option('--of <what>', 'with --outage: starts, or tasks, for which Lambda has no room', 'starts')
    .option('--kill <number>', 'run the real service under load, and kill it so often')
    .optionsGroup('Loads:')
    .option('--load <situation>', 'provider-down, crowd, one-account or stranger')
    .option('--rate <number>', 'creations a second')
    .option('--minutes <number>', 'how long the traffic lasts')
    .option('--way <way>', 'with provider-down: refuses, unreachable or hangs')
    .option('--seconds <number>', 'how long a vendor takes', '15')
    .option('--vendor <kind>', 'synchronous or job; without it, both')
    .option('--quotas <kind>', 'default or raised; without it, both')
    .option('--accounts <number>', 'how many accounts a crowd has')
    .option('--capacity <number>', 'the setting serviceCapacity')
    .option('--start <kind>', 'warm, or cold: no function has an environment yet', 'warm')
    .option('--json', 'loads print one JSON document')
    .optionsGroup('Processes:')
    .option('--workers <number>', 'how many processes', String(Math.min(2, availableParallelism())));
}

/** Runs what the arguments ask for. Resolves with whether everything held. */
export async function simulate(args: string[]): Promise<boolean> {
  const command = commandLine().parse(args, { from: 'user' });
  const flags = command.opts<Flags>();
  if (flags.kill !== undefined)
    return killRepeatedly(
      String(wholeNumber('--kill', flags.kill)),
      String(wholeNumber('--seed', flags.seed ?? '1', 0)),
    );
  const { load } = flags;
  if (load !== undefined)
    return scaleSituations.includes(load)
      ? simulateScale({ ...flags, load })
      : simulateLoad({ ...flags, load });
  if (flags.seed !== undefined) return traceSeed(wholeNumber('--seed', flags.seed, 0), flags);
  if (flags.outage) return runOutage(flags.of);
  if (flags.mutants) return catchMutants(command.args, flags);
  if (flags.conflicts !== undefined) return runConflicts(flags.conflicts, flags);
  if (flags.exhaustive || flags.pairs) return runExhaustive(flags);
  return runSeeds(flags);
}

function runSeeds(flags: Flags): Promise<boolean> {
  const from = wholeNumber('--from', flags.from, 0);
  const seeds = wholeNumber('--seeds', flags.seeds ?? '1000');
  const to = from + seeds;
  // A worker without a seed would only take processor time away from the others.
  const workers = String(Math.min(seeds, wholeNumber('--workers', flags.workers)));
  return inWorkers({ ...flags, workers }, (index, of) => ({
    kind: 'seeds',
    from: from + index,
    to,
    every: of,
    stopAtFirst: false,
    ...narrowOf(flags),
    ...mutantOf(flags),
  }));
}

function runExhaustive(flags: Flags): Promise<boolean> {
  return inWorkers(flags, (index, of) => ({ kind: 'exhaustive', index, of, pairs: flags.pairs ?? false }));
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

/** Runs the scenarios of `--conflicts`. Each worker answers its share of the requests. */
function runConflicts(text: string, flags: Flags): Promise<boolean> {
  const conflicts = Number(text);
  if (text.trim() === '' || !(conflicts >= 0 && conflicts < 1)) {
    console.error(`--conflicts: ${JSON.stringify(text)} must be a probability from 0, below 1.`);
    return Promise.resolve(false);
  }
  const requests = wholeNumber('--requests', flags.requests);
  const from = wholeNumber('--from', flags.from, 0);
  return inWorkers(flags, (index, of) => ({
    kind: 'conflicts',
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
  await runWorker({ kind: 'trace', seed, ...narrowOf(flags), ...mutantOf(flags) }, (message) => {
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

async function firstCatch({ name, narrow }: Mutant): Promise<string | undefined> {
  let caught: string | undefined;
  await runWorker(
    {
      kind: 'seeds',
      from: 0,
      to: mutantSeeds,
      every: 1,
      stopAtFirst: true,
      mutant: name,
      ...(narrow && { narrow }),
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

function narrowOf({ flapping, payments, mails }: Flags): { narrow?: Narrow } {
  if (flapping === true) return { narrow: 'flapping' };
  if (mails === true) return { narrow: 'mails' };
  return payments === true ? { narrow: 'payments' } : {};
}

function mutantOf({ mutant }: Flags): { mutant?: string } {
  return mutant === undefined ? {} : { mutant };
}
