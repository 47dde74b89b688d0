/** The commands `releases list` and `releases prune`. */
import type { Row } from '../../client/command/terminal/output.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import {
  deploymentMillis,
  type FunctionVersion,
  type JudgedVersion,
  judgeVersions,
  nameOfVersion,
  type Removal,
  type RunningExecution,
  type VersionName,
  versionsNamedIn,
} from '../release-store.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

/**
 * The most executions whose definitions are read. Step Functions answers 200 such questions at once, and then
 * one a second.
 */
const mostExecutions = 150;
const dayMillis = 86_400_000;
const longestRunHours = 3;

type Tell = (line: string) => void;
type ReleaseServices = Pick<OperatorServices, 'releases' | 'clock'>;

/** All versions, judged. Reads the definitions of running executions only where it has to. */
async function findVersions(
  { releases, clock }: ReleaseServices,
  leastAgeDays: number,
  tell: Tell,
): Promise<readonly JudgedVersion[]> {
  const { store, stateMachineArns } = releases;
  const versions: FunctionVersion[] = [];
  const aliases = new Map<VersionName, readonly string[]>();
  for (const functionName of releases.functionNames()) {
    tell(`Reading the versions of ${functionName} …`);
    versions.push(...(await reading(`versions of ${functionName}`, store.versions(functionName))));
    for (const [name, alias] of await reading(`aliases of ${functionName}`, store.aliases(functionName)))
      aliases.set(name, [...(aliases.get(name) ?? []), alias]);
  }
  const definitions = new Set<VersionName>();
  for (const arn of stateMachineArns)
    for (const name of versionsNamedIn(await reading(`definition of ${arn}`, store.definition(arn))))
      definitions.add(name);
  const times = { nowMillis: clock.now(), leastAgeMillis: leastAgeDays * dayMillis };
  const judge = (executions: ReadonlySet<VersionName>): readonly JudgedVersion[] =>
    judgeVersions(versions, { definitions, executions, aliases }, times);
  const judged = judge(new Set());
  if (judged.every(({ kept }) => kept !== undefined)) return judged;
  const newest = Math.max(
    0,
    ...versions.filter((one) => definitions.has(nameOfVersion(one))).map(({ publishedAt }) => publishedAt),
  );
  return judge(await namedByExecutions(releases, newest + deploymentMillis, tell));
}

/** The versions in the definitions of the running executions that began before this time. */
async function namedByExecutions(
  { store, stateMachineArns }: OperatorServices['releases'],
  beforeMillis: number,
  tell: Tell,
): Promise<ReadonlySet<VersionName>> {
  const running: RunningExecution[] = [];
  for (const arn of stateMachineArns)
    running.push(...(await reading(`running executions of ${arn}`, store.running(arn))));
  const older = running.filter(({ startedAt }) => startedAt < beforeMillis);
  if (older.length > mostExecutions)
    throw new OperatorError(
      `${older.length} executions still run that may have begun before the last release: prune ${longestRunHours} hours after it.`,
      { executions: older.length },
    );
  const named = new Set<VersionName>();
  for (const [place, execution] of older.entries()) {
    tell(`Reading the definition of running execution ${place + 1} of ${older.length} …`);
    const text = await reading(`definition of ${execution.arn}`, store.definitionOf(execution));
    for (const name of versionsNamedIn(text ?? '')) named.add(name);
  }
  return named;
}

/** Deletes a version. `removed` is the number of versions that the command has deleted before. */
async function removeVersion(
  { releases }: Pick<OperatorServices, 'releases'>,
  version: FunctionVersion,
  removed: number,
): Promise<Removal> {
  try {
    return await releases.store.remove(version);
  } catch (error) {
    throw new OperatorError(
      `Version ${version.version} of ${version.functionName} could not be deleted (${reasonOf(error)}); ${removed} others were: allow lambda:DeleteFunction, and repeat the command.`,
      { removed },
      { cause: error },
    );
  }
}

async function reading<Value>(what: string, value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    throw new OperatorError(
      `The ${what} cannot be read (${reasonOf(error)}), and nothing was deleted: check your AWS permissions, and repeat the command.`,
      {},
      { cause: error },
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const defaultDays = '1';
const longestDays = 3_650;

interface AgeOptions {
  readonly olderThan: string;
}

export function addReleaseCommands(program: OperatorCommand): void {
  const releases = program.task(
    'releases',
    'the versions of functions that running executions may need, and those that nothing needs',
  );
  releases
    .task('list', 'every version of every function, and why it is kept')
    .option('--older-than <days>', 'younger versions are kept', defaultDays)
    .run(async ({ services, output, tell }, { olderThan }: AgeOptions) => {
      const found = await findVersions(services, daysOf(olderThan), tell);
      output.list(found.map(versionRow), 'No version was published yet.');
    });
  releases
    .task('prune', 'delete the versions that no definition, running execution or alias names')
    .option('--older-than <days>', 'keep versions that were published later', defaultDays)
    .option('--dry-run', 'only show what would be deleted')
    .run(async ({ services, output, tell }, { olderThan, dryRun }: AgeOptions & { dryRun?: boolean }) => {
      const found = await findVersions(services, daysOf(olderThan), tell);
      const rows: Row[] = [];
      let removed = 0;
      for (const version of found.filter(({ kept }) => kept === undefined)) {
        if (dryRun !== true) tell(`Deleting version ${version.version} of ${version.functionName} …`);
        const outcome =
          dryRun === true ? 'would_be_removed' : await removeVersion(services, version, removed);
        if (outcome === 'removed') removed += 1;
        rows.push({ ...nameRow(version), outcome });
      }
      output.list(rows, `Nothing to delete: ${found.length} versions are kept.`);
    });
}

function daysOf(text: string): number {
  return values.count('--older-than', text, 0, longestDays);
}

function nameRow({ functionName, version, publishedAt }: JudgedVersion): Row {
  return { function: functionName, version, published_at: new Date(publishedAt).toISOString() };
}

function versionRow(version: JudgedVersion): Row {
  const { supersededAt, kept, aliases } = version;
  return {
    ...nameRow(version),
    superseded_at: supersededAt === undefined ? null : new Date(supersededAt).toISOString(),
    kept: kept ?? null,
    aliases,
  };
}
