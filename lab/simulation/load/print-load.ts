/** Prints a report of load for a person. */
import type { HalfMinute, LoadReport } from './measures.ts';

const columns = ['from', 'accepted', 'felt', 'share', 'asked first', 'failed', 'median', '99 %', 'slowest'];

export function printLoad(report: LoadReport): void {
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
