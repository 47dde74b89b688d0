/** The command `npm run preflight`: reads the stage's settings and asks the account. */
import { resolveCname } from 'node:dns/promises';
import { STSClient } from '@aws-sdk/client-sts';
import pc from 'picocolors';
import { SettingsError } from '../../lib/settings.ts';
import { settingsOf, stackOf } from '../../lib/stage-settings.ts';
import { readCatalog } from '../catalog/catalog-files.ts';
import { createClients } from './clients.ts';
import type { Traffic } from './quotas/quotas.ts';
import { printReport } from './report.ts';
import { NoAccount, runPreflight } from './run.ts';

export interface PreflightCommand {
  readonly stage: string;
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
 * Prints the findings, and gives the exit code: 1 when something stops the deployment, or no question can be
 * asked.
 */
export async function preflightCommand(
  { stage, region: named, traffic, withoutAlarms, json }: PreflightCommand,
  { print, tell }: Writers,
): Promise<number> {
  try {
    const settings = await settingsOf(stage);
    const region = await regionOf(named);
    const { stackName: stack } = stackOf(stage);
    const { account, findings } = await runPreflight(
      {
        region,
        settings,
        stackName: stack,
        traffic,
        withoutAlarms,
        clients: createClients(region, settings.bedrockRegion),
        bedrockModels: bedrockModels(),
        aliasesOf,
        now: () => new Date(),
      },
      (title) => tell(pc.dim(`${title} …`)),
    );
    return printReport({ account, region, stack, traffic, findings }, json, print);
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
