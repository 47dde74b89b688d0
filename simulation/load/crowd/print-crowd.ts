/** Prints the report of a crowd for a person. */
import type { CrowdReport } from './crowd-measures.ts';

const shownLimits = 6;

export function printCrowd(report: CrowdReport): void {
  const { plan, requests, limits, openShares } = report;
  const who = plan.situation === 'crowd' ? `${plan.accounts} accounts` : 'one account';
  console.log(
    `\n${plan.perSecond} a second for ${Math.round(plan.lengthSeconds)} s from ${who}, a ${plan.vendor} vendor of ` +
      `${plan.renderSeconds} s, ${plan.quotas} quotas`,
  );
  console.log(
    `${requests} requests: ${report.accepted} accepted (${shareOf(report.accepted, requests)}), ` +
      `refused: ${listOf(report.refused)}; refused polls: ${listOf(report.refusedPolls)} of ${report.polls}\n` +
      `${report.completed} completed, ${report.failed} failed, ${report.stillOpen} still open, ` +
      `${report.startsUnclear} were not started at once\n` +
      `Image after ${secondsOf(report.imageSeconds)}; the client knows after ${secondsOf(report.seenSeconds)}\n` +
      `Most open: ${report.mostOpen} of ${plan.serviceCapacity}${
        openShares
          ? `; when full, between ${openShares.map((share) => `${(100 * share).toFixed(1)} %`).join(' and ')}`
          : ''
      }\n` +
      `Concurrency: ${report.peakConcurrency} of ${plan.aws.concurrency} at most ` +
      `(${listOf(report.peakByFunction)})\n` +
      `${report.costPerThousand.toFixed(4)} USD for 1,000; ${perOne(report.writeUnits, report)} write units and ` +
      `${perOne(report.readUnits, report)} read units for one`,
  );
  if (limits.length === 0) console.log('No limit refused anything');
  for (const { limit, count, firstAtSeconds } of limits.slice(0, shownLimits))
    console.log(`Limit: ${limit}, ${count} times, first after ${firstAtSeconds.toFixed(1)} s`);
  const { accounts, creations } = report.audited;
  console.log(
    `Audit of ${accounts} accounts and ${creations} creations: ${report.differences.length} differences`,
  );
}

function listOf(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts);
  return entries.length === 0 ? 'none' : entries.map(([name, count]) => `${count} × ${name}`).join(', ');
}

function secondsOf([median = 0, late = 0, slowest = 0]: readonly number[]): string {
  return `${median.toFixed(1)} s (median), ${late.toFixed(1)} s (99 %), ${slowest.toFixed(1)} s (slowest)`;
}

function shareOf(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
}

function perOne(units: number, { completed }: CrowdReport): string {
  return (units / Math.max(1, completed)).toFixed(1);
}
