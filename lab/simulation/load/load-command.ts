/** `npm run simulate -- --load provider-down`: its flags, its workers, and what it prints. */
import { wholeNumber } from '../../../client/command/terminal/whole-number.ts';
import { runWorker } from '../child-processes.ts';
import { leastMinutes, providerDown, type WayDown, waysDown } from './load-plan.ts';
import type { LoadReport } from './measures.ts';
import { printLoad } from './print-load.ts';
import type { LoadProgress } from './run-load.ts';

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
        : `--load: ${JSON.stringify(flags.load)} must be provider-down, crowd or one-account.`,
    );
    return false;
  }
  const perSecond = wholeNumber('--rate', flags.rate ?? '20');
  const minutes = wholeNumber('--minutes', flags.minutes ?? '20', leastMinutes);
  const progress = new Map<WayDown, LoadProgress>();
  const timer = setInterval(() => {
    for (const [way, one] of progress) console.error(lineOf(way, one));
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

function lineOf(way: WayDown, { seconds, ofSeconds, accepted, open }: LoadProgress): string {
  return `${way}: ${seconds} of ${ofSeconds} virtual seconds, ${accepted} creations, ${open} open`;
}
