/** Starts the processes that do the work of `npm run simulate`, and listens to them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Job, KillMessage, Message, OutageReport, Report } from './messages.ts';

const worker = fileURLToPath(new URL('worker.ts', import.meta.url));
const killer = fileURLToPath(new URL('kill/main.ts', import.meta.url));
// An outage of full size needs some 3 GB, and a load of 1,000 creations a second some 6 GB.
const execArgv = [
  '--disable-warning=ExperimentalWarning',
  '--max-old-space-size=9000',
  '--max-semi-space-size=64',
];
// Node caches the modules without their types and compiled, as for every npm script (bin/setup.mjs).
const cache = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
const env = { NODE_COMPILE_CACHE: cache, ...process.env };

/** Runs one job in a process of its own. Rejects when the process ends before the job is done. */
export function runWorker(job: Job, hear: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = false;
    const child = fork(worker, [JSON.stringify(job)], { execArgv, env });
    child.on('message', (message: Message) => {
      if (message.kind === 'done') done = true;
      hear(message);
    });
    child.on('exit', (code) =>
      done ? resolve() : reject(new Error(`a worker ended with ${code ?? 'a signal'}`)),
    );
  });
}

/** Runs all rounds of `--kill` and prints one line for each. Resolves with whether every promise was kept. */
export async function killRepeatedly(rounds: string, seed: string): Promise<boolean> {
  const child = fork(killer, [rounds, seed], { execArgv, env });
  let isGood = false;
  child.on('message', (message: KillMessage) => {
    if (message.kind === 'line') console.log(message.line);
    else {
      const { requests, retried, accepted, creations, webhooks, wrong } = message.report;
      for (const line of wrong) console.log(`VIOLATION ${line}`);
      console.log(
        `${rounds} kills: ${requests} requests, ${retried} of them again, ${accepted} accepted, ` +
          `${creations} creations, ${webhooks} webhooks · ${wrong.length} violations`,
      );
      isGood = wrong.length === 0;
    }
  });
  await once(child, 'exit');
  return isGood;
}

/** Prints the progress and the failures of simulation runs for a person. */
const mostReports = 5;

/** Adds up what the workers report, and prints the totals when asked. */
export class Progress {
  readonly #began = performance.now();
  readonly #sites = new Set<string>();
  readonly #struck = new Set<string>();
  readonly #kinds = new Map<string, number>();
  readonly #answers = new Map<string, number>();
  #seeds = 0;
  #faults = 0;
  #slowest = { seed: 0, millis: 0 };
  failures = 0;

  hear(message: Message): void {
    if (message.kind === 'failed') this.#report(message.report);
    if (message.kind === 'answered') {
      for (const [name, times] of Object.entries(message.answers))
        this.#answers.set(name, (this.#answers.get(name) ?? 0) + times);
    }
    if (message.kind !== 'ran') return;
    this.#seeds += message.seeds;
    this.#faults += message.faults;
    for (const site of message.sites) this.#sites.add(site);
    for (const site of message.struck) this.#struck.add(site);
    for (const [kind, times] of Object.entries(message.kinds))
      this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + times);
    if (message.slowest.millis > this.#slowest.millis) this.#slowest = message.slowest;
  }

  print(): void {
    const seconds = (performance.now() - this.#began) / 1000;
    const { seed, millis } = this.#slowest;
    console.log(
      `${this.#seeds} runs in ${seconds.toFixed(0)} s (${(this.#seeds / seconds).toFixed(1)}/s) · ` +
        `${this.#faults} faults injected · ` +
        `${this.#struck.size} of ${this.#sites.size} call sites struck · ` +
        `slowest: seed ${seed}, ${millis} ms · ${this.failures} failed`,
    );
  }

  /** Prints how often each kind of fault struck and how often each incident of a scenario happened. */
  printKinds(): void {
    const kinds = [...this.#kinds].sort(([, a], [, b]) => b - a).map(([kind, times]) => `${kind} ${times}`);
    console.log(`Kinds of faults: ${kinds.join(', ')}`);
  }

  /** Prints how often each operation answered with each status. */
  printAnswers(): void {
    const answers = [...this.#answers].sort().map(([name, times]) => `${name}: ${times}`);
    const requests = [...this.#answers.values()].reduce((sum, times) => sum + times, 0);
    console.log(`${requests} requests were answered: ${answers.join(', ')}`);
  }

  /** Prints the call sites that were reached but never struck by a fault. */
  printUnstruck(): void {
    const unstruck = [...this.#sites].filter((site) => !this.#struck.has(site)).sort();
    if (unstruck.length > 0) console.log(`Not struck by any fault:\n  ${unstruck.join('\n  ')}`);
  }

  #report(report: Report): void {
    this.failures += 1;
    if (this.failures <= mostReports) printReport(report, undefined);
  }
}

/**
 * Prints a failure: the broken invariant, the steps and faults of the shrunk run, the last lines of its
 * trace, and the command that replays it.
 */
export function printReport(
  { seed, narrow, violation, found, steps, faults, tail }: Report,
  mutant: string | undefined,
): void {
  const where = seed === undefined ? 'in the walk over all sites' : `with seed ${seed}`;
  console.log(`\nVIOLATION ${where}: ${violation.invariant}\n  ${violation.detail}`);
  console.log(`Shrunk from ${sizeOf(found.steps, found.faults)} to ${sizeOf(steps.length, faults.length)}:`);
  for (const step of steps) console.log(`  ${step}`);
  for (const fault of faults) console.log(`  ${JSON.stringify(fault)}`);
  console.log(`The end of its trace:\n  ${tail.join('\n  ')}`);
  if (seed === undefined) return;
  const planted = mutant === undefined ? '' : ` --mutant ${mutant}`;
  const scenario = narrow === undefined ? '' : ` --${narrow}`;
  console.log(`Replay: npm run simulate -- --seed ${seed}${scenario}${planted} --trace\n`);
}

function sizeOf(steps: number, faults: number): string {
  return `${steps} steps and ${faults} faults`;
}

/** Prints how the creations ended of an outage. */
export function printOutage(report: OutageReport): void {
  const [median, late, latest, slowest] = report.ordinarySlowestSeconds.map((seconds) => seconds.toFixed(1));
  console.log(
    `${report.accepted} creations, ${report.acceptedInOutage} of them during the outage; ` +
      `at most ${report.mostOpen} open, ${report.openAtTheEnd} at the end of the outage\n` +
      `Open at most ${report.latestOpenSeconds.toFixed(1)} s after the deadline; ` +
      `${report.refunded} refunded, ${report.givenUp} of them while they had time, ${report.stillOpen} still open\n` +
      `With 60 s left at the end: ${report.hadTimeCompleted} of ${report.hadTime} completed\n` +
      `Accepted after the outage: ${report.ordinaryCompleted} of ${report.ordinary} completed; ` +
      `median ${median} s, 95 % within ${late} s, 99 % within ${latest} s, all within ${slowest} s\n` +
      `Audit: ${report.differences.length} differences`,
  );
}
