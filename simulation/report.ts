/** How a run of the simulation is told to a person. */
import type { Message, Report } from './messages.ts';

const mostReports = 5;

/** Counts what the workers say, and prints it from time to time. */
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
      `${this.#seeds} runs in ${seconds.toFixed(0)} s (${(this.#seeds / seconds).toFixed(1)}/s) · ${this.#faults} faults injected · ` +
        `${this.#struck.size} of ${this.#sites.size} call sites struck · slowest: seed ${seed}, ${millis} ms · ${this.failures} failed`,
    );
  }

  /** How often each kind of fault struck, and each mishap of a scenario happened. */
  printKinds(): void {
    const kinds = [...this.#kinds].sort(([, a], [, b]) => b - a).map(([kind, times]) => `${kind} ${times}`);
    console.log(`Kinds of faults: ${kinds.join(', ')}`);
  }

  /** How often each operation answered with each status. */
  printAnswers(): void {
    const answers = [...this.#answers].sort().map(([name, times]) => `${name}: ${times}`);
    const requests = [...this.#answers.values()].reduce((sum, times) => sum + times, 0);
    console.log(`${requests} requests were answered: ${answers.join(', ')}`);
  }

  /** Sites that were called and that no fault struck. */
  printUnstruck(): void {
    const unstruck = [...this.#sites].filter((site) => !this.#struck.has(site)).sort();
    if (unstruck.length > 0) console.log(`Not struck by any fault:\n  ${unstruck.join('\n  ')}`);
  }

  #report(report: Report): void {
    this.failures += 1;
    if (this.failures <= mostReports) printReport(report, undefined);
  }
}

/** A failure as small as it was found: what broke, by which steps and faults, the end of its trace, and how to see it again. */
export function printReport(
  { seed, violation, found, steps, faults, tail }: Report,
  mutant: string | undefined,
): void {
  console.log(
    `\nVIOLATION ${seed === undefined ? 'in the walk over all sites' : `with seed ${seed}`}: ${violation.invariant}\n  ${violation.detail}`,
  );
  console.log(`Shrunk from ${sizeOf(found.steps, found.faults)} to ${sizeOf(steps.length, faults.length)}:`);
  for (const step of steps) console.log(`  ${step}`);
  for (const fault of faults) console.log(`  ${JSON.stringify(fault)}`);
  console.log(`The end of its trace:\n  ${tail.join('\n  ')}`);
  if (seed !== undefined)
    console.log(
      `Replay: npm run simulate -- --seed ${seed}${mutant === undefined ? '' : ` --mutant ${mutant}`} --trace\n`,
    );
}

function sizeOf(steps: number, faults: number): string {
  return `${steps} steps and ${faults} faults`;
}
