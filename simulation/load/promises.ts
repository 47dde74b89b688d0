/** What the service promises of a provider that is down. */
import type { LoadReport } from './measures.ts';

const mostFelt = 0.01;
const latestBackSeconds = 120;

/** One line for each promise that the report breaks. */
export function brokenPromises(report: LoadReport): string[] {
  const { later, backAfterSeconds, stillOpen, failed, refused, differences } = report;
  const refusals = Object.entries(refused).map(([status, count]) => `${count} with ${status}`);
  const lines: readonly (readonly [isKept: boolean, line: string])[] = [
    [
      later.accepted > 0 && later.felt <= mostFelt * later.accepted,
      `${later.felt} of ${later.accepted} creations felt the outage after its first 30 s`,
    ],
    [
      backAfterSeconds <= latestBackSeconds,
      `the provider had its traffic again only after ${backAfterSeconds} s`,
    ],
    [failed === 0, `${failed} creations failed`],
    [stillOpen === 0, `${stillOpen} creations are still open`],
    [refusals.length === 0, `requests were refused: ${refusals.join(', ')}`],
    ...differences.map((difference) => [false, difference] as const),
  ];
  return lines.flatMap(([isKept, line]) => (isKept ? [] : [line]));
}
