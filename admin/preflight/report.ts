/** Prints what the preflight found: a line for each finding and a summary, or one JSON document. */
import pc from 'picocolors';
import { visibleJson, visibleText } from '../../client/command/terminal/visible-text.ts';
import type { Finding, Level } from './asked.ts';
import type { Traffic } from './quotas/quotas.ts';

const marks: Readonly<Record<Level, string>> = {
  ok: pc.green('✓'),
  note: pc.cyan('i'),
  limits: pc.yellow('!'),
  stops: pc.red('✗'),
  unasked: pc.yellow('?'),
};

export interface Report {
  readonly account: string;
  readonly region: string;
  readonly stack: string;
  readonly traffic: Traffic;
  readonly findings: readonly Finding[];
}

/** Prints the report, and gives the exit code: 1 when something stops the deployment. */
export function printReport(report: Report, json: boolean, print: (line: string) => void): number {
  const { findings } = report;
  const isStopped = findings.some(({ level }) => level === 'stops');
  if (json) print(visibleJson(documentOf(report, !isStopped)));
  else {
    const width = Math.max(...findings.map(({ question }) => question.length));
    for (const finding of findings) print(lineOf(finding, width));
    for (const line of summary(report)) print(line);
  }
  return isStopped ? 1 : 0;
}

function documentOf({ account, region, stack, traffic, findings }: Report, ok: boolean): object {
  return {
    ok,
    account,
    region,
    stack,
    traffic: { creations_per_second: traffic.perSecond, seconds: traffic.seconds, vendor: traffic.kind },
    findings,
  };
}

function lineOf({ question, level, found, wanted, fix }: Finding, width: number): string {
  const what = `${visibleText(question).padEnd(width)}  ${visibleText(found)}`;
  const more = [
    ...(level === 'unasked' ? [] : [`wanted: ${visibleText(wanted)}`]),
    ...(fix === undefined ? [] : [`fix: ${visibleText(fix)}`]),
  ];
  return `${marks[level]} ${[what, ...more].join('; ')}`;
}

function summary({ account, region, stack, traffic, findings }: Report): string[] {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const { perSecond, seconds, kind } = traffic;
  const who = kind === 'job' ? 'a vendor that calls back' : 'a synchronous vendor';
  return [
    '',
    `${stack} in ${region} of ${account}, for ${perSecond} creations a second at ${who} that takes ${seconds} s:`,
    pc.bold(
      count('stops') === 0
        ? 'Nothing that was found stops the deployment.'
        : `Findings that stop the deployment (✗): ${count('stops')}.`,
    ),
    ...(count('limits') === 0 ? [] : [`Findings that limit the service (!): ${count('limits')}.`]),
    ...(count('unasked') === 0 ? [] : [`Questions that could not be asked (?): ${count('unasked')}.`]),
  ];
}
