/** The command `npm run preflight`: reads the stage's settings and asks the account. */
import { resolveCname } from 'node:dns/promises';
import { STSClient } from '@aws-sdk/client-sts';
import pc from 'picocolors';
import { visibleJson, visibleText } from '../../client/command/terminal/visible-text.ts';
import { SettingsError, settingsIn, settingsOf, stackNamed, stackOf } from '../../lib/settings.ts';
import { readCatalog } from '../catalog/catalog-files.ts';
import { createClients, type Finding, type Level } from './asked.ts';
import type { Traffic } from './quotas/quotas.ts';
import { NoAccount, runPreflight } from './run.ts';

/** Prints what the preflight found: a line for each finding and a summary, or one JSON document. */
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

/** Prints the report, and returns the exit code: 1 when something stops the deployment. */
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

export interface PreflightCommand {
  readonly stage: string;
  /** Instead of the stage. */
  readonly stack?: string | undefined;
  /** The JSON file with the settings of the stack. */
  readonly settings?: string | undefined;
  readonly region: string | undefined;
  readonly traffic: Traffic;
  readonly withoutAlarms: boolean;
  readonly json: boolean;
}

/** Where the command writes. */
export interface Writers {
  /** A line of the report. */
  readonly print: (line: string) => void;
  /** Progress, and why the account cannot be asked. */
  readonly tell: (line: string) => void;
}

/**
 * Prints the findings, and returns the exit code: 1 when something stops the deployment, or no question can
 * be asked.
 */
export async function preflightCommand(
  { stage, stack, settings: file, region: named, traffic, withoutAlarms, json }: PreflightCommand,
  { print, tell }: Writers,
): Promise<number> {
  try {
    if (stack === undefined && file !== undefined)
      throw new SettingsError('--settings belongs to a stack: name it with --stack');
    const { stackName } = stack === undefined ? stackOf(stage) : stackNamed(stack);
    const settings = stack === undefined ? await settingsOf(stage) : settingsIn(file);
    const region = await regionOf(named);
    const { account, findings } = await runPreflight(
      {
        region,
        settings,
        stackName,
        traffic,
        withoutAlarms,
        clients: createClients(region, settings.bedrockRegion),
        bedrockModels: bedrockModels(),
        aliasesOf,
        now: () => new Date(),
      },
      (title) => tell(pc.dim(`${title} …`)),
    );
    return printReport({ account, region, stack: stackName, traffic, findings }, json, print);
  } catch (error) {
    if (!(error instanceof SettingsError) && !(error instanceof NoAccount)) throw error;
    tell(error.message);
    return 1;
  }
}

/** The region of the option, or the one that the environment and the profile name. */
async function regionOf(named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  try {
    return await new STSClient({}).config.region();
  } catch (error) {
    throw new NoAccount('No region is named: use --region, AWS_REGION, or a profile with a region.', {
      cause: error,
    });
  }
}

function bedrockModels(): readonly string[] {
  const routes = readCatalog().models.flatMap(({ routes: all }) => all);
  const models = routes
    .filter(({ provider }) => provider === 'bedrock')
    .map(({ provider_model: model }) => model);
  return [...new Set(models)];
}

/** The codes of Node by which a resolver says that a name has no such record, or does not exist. */
const noAlias = new Set(['ENODATA', 'ENOTFOUND']);

async function aliasesOf(host: string): Promise<readonly string[]> {
  try {
    return await resolveCname(host);
  } catch (error) {
    if (error instanceof Error && 'code' in error && noAlias.has(String(error.code))) return [];
    throw error;
  }
}
