/** `npm run simulate -- --load provider-down`: its flags, its workers, and what it prints. */
import { wholeNumber } from '../../../client/command/terminal/whole-number.ts';
import { runWorker } from '../workers.ts';
import {
  type HalfMinute,
  leastMinutes,
  type LoadReport,
  providerDown,
  type WayDown,
  waysDown,
} from './measures.ts';
import type { LoadProgress } from './run-load.ts';

/** Prints a report of load for a person. */
const columns = ['from', 'accepted', 'felt', 'share', 'asked first', 'failed', 'median', '99 %', 'slowest'];

function printLoad(report: LoadReport): void {
  const { plan, later } = report;
  const { beforeSeconds, downSeconds, perSecond, way } = plan;
  const downFor = `${downSeconds / 60} min`;
  console.log(
    `\nA provider that ${sayings[way]}, for ${downFor}, at ${perSecond} creations a second. ` +
      `It is down from ${clockOf(beforeSeconds)} to ${clockOf(beforeSeconds + downSeconds)}.`,
  );
  console.log(lineOf(columns));
  for (const halfMinute of report.halfMinutes) console.log(lineOf(cellsOf(halfMinute)));
  console.log(
    `${report.accepted} creations: ${report.completed} completed, ${report.failed} failed, ` +
      `${report.stillOpen} still open\n` +
      `After the first 30 s ${later.felt} of ${later.accepted} creations felt it ` +
      `(${shareOf(later.felt, later.accepted)})\n` +
      `The provider had its traffic again ${report.backAfterSeconds} s after its return\n` +
      `Audit: ${report.differences.length} differences`,
  );
}

const sayings = {
  refuses: 'refuses at once',
  unreachable: 'cannot be reached',
  hangs: 'takes calls and never answers',
} as const;

function cellsOf({ fromSeconds, accepted, felt, askedFirst, failed, waitSeconds }: HalfMinute): string[] {
  return [
    clockOf(fromSeconds),
    String(accepted),
    String(felt),
    shareOf(felt, accepted),
    String(askedFirst),
    String(failed),
    ...waitSeconds.map((seconds) => `${seconds.toFixed(1)} s`),
  ];
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell, index) => cell.padStart(columns[index]?.length ?? 0).padStart(8)).join('  ');
}

function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function shareOf(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
}

export interface LoadFlags {
  readonly load: string;
  readonly rate?: string;
  readonly minutes?: string;
  readonly way?: string;
  readonly json?: boolean;
}

const progressMillis = 5_000;
const usualWays: readonly WayDown[] = ['refuses', 'hangs'];

/** Runs one load for each way in which a provider is down, at the same time. Resolves with whether all promises held. */
export async function simulateLoad(flags: LoadFlags): Promise<boolean> {
  const ways = waysOf(flags);
  if (flags.load !== 'provider-down' || ways.length === 0) {
    console.error(
      flags.load === 'provider-down'
        ? `--way: ${JSON.stringify(flags.way)} must be one of ${waysDown.join(', ')}.`
        : `--load: ${JSON.stringify(flags.load)} must be provider-down, crowd, one-account or stranger.`,
    );
    return false;
  }
  const perSecond = wholeNumber('--rate', flags.rate ?? '20');
  const minutes = wholeNumber('--minutes', flags.minutes ?? '20', leastMinutes);
  const progress = new Map<WayDown, LoadProgress>();
  const timer = setInterval(() => {
    for (const [way, one] of progress) console.error(lineOfProgress(way, one));
  }, progressMillis);
  const done: { readonly report: LoadReport; readonly wrong: readonly string[] }[] = [];
  await Promise.all(
    ways.map((way) =>
      runWorker({ kind: 'load', plan: providerDown(way, perSecond, minutes) }, (message) => {
        if (message.kind === 'loading') progress.set(way, message.progress);
        if (message.kind === 'loaded') done.push(message);
      }),
    ),
  );
  clearInterval(timer);
  if (flags.json) console.log(JSON.stringify(done, undefined, 2));
  else
    for (const { report, wrong } of done) {
      printLoad(report);
      for (const line of wrong) console.log(`VIOLATION ${line}`);
    }
  return done.length === ways.length && done.every(({ wrong }) => wrong.length === 0);
}

function waysOf({ way }: LoadFlags): readonly WayDown[] {
  return way === undefined ? usualWays : waysDown.filter((one) => one === way);
}

function lineOfProgress(way: WayDown, { seconds, ofSeconds, accepted, open }: LoadProgress): string {
  return `${way}: ${seconds} of ${ofSeconds} virtual seconds, ${accepted} creations, ${open} open`;
}
