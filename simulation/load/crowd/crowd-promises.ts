/** What the service promises to a crowd. */
import type { CrowdReport } from './crowd-measures.ts';

/** With the quotas of docs/capacity.md at most this share of requests may receive a 503. */
const mostBusy = { crowd: 0.001, 'one-account': 0.01 } as const;
/** Admission keeps the open creations within this share of the setting. */
const capacityShare = 0.1;

/** One line for each promise that the report breaks. */
export function brokenCrowdPromises(report: CrowdReport): string[] {
  const { plan, requests, completed, failed, stillOpen, differences, openShares, limits } = report;
  const busy = countOf(report, (reason) => reason.startsWith('503'));
  const isExpected = (reason: string): boolean => plan.isCapacityAsked && reason === '429 capacity';
  const others = countOf(report, (reason) => !reason.startsWith('503') && !isExpected(reason));
  const mayBeBusy = mostBusy[plan.situation] * requests;
  const lines: readonly (readonly [isKept: boolean, line: string])[] = [
    [completed > 0, 'no creation was completed'],
    [stillOpen === 0, `${stillOpen} creations are still open`],
    [report.clientsStillWaiting === 0, `${report.clientsStillWaiting} clients never heard of the end`],
    [plan.quotas === 'default' || busy <= mayBeBusy, `${busy} of ${requests} requests heard 503`],
    [plan.quotas === 'default' || others === 0, `${others} of ${requests} requests were refused without 503`],
    [plan.quotas === 'default' || failed === 0, `${failed} creations failed`],
    [
      // A throttled table loses notes of starts and ends, until the reconciler counts again.
      openShares === undefined ||
        limits.some(({ limit }) => limit.startsWith('writes')) ||
        (openShares[0] >= 1 - capacityShare && openShares[1] <= 1 + capacityShare),
      `a full service had between ${percent(openShares?.[0])} and ${percent(openShares?.[1])} of its capacity open`,
    ],
    ...differences.map((difference) => [false, difference] as const),
  ];
  return lines.flatMap(([isKept, line]) => (isKept ? [] : [line]));
}

function countOf({ refused }: CrowdReport, counts: (reason: string) => boolean): number {
  return Object.entries(refused).reduce((sum, [reason, count]) => sum + (counts(reason) ? count : 0), 0);
}

function percent(share = 0): string {
  return `${(100 * share).toFixed(1)} %`;
}
