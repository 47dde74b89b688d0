/** The commands `releases list` and `releases prune`. */
import type { Command } from 'commander';
import type { Row } from '../../client/command/terminal/output.ts';
import type { Admin } from '../admin.ts';
import type { JudgedVersion } from '../release-plan.ts';
import { findVersions, removeVersion } from '../releases.ts';
import * as values from '../terminal/values.ts';

const defaultDays = '1';
const longestDays = 3_650;

interface AgeOptions {
  readonly olderThan: string;
}

export function addReleaseCommands(program: Command, admin: Admin): void {
  const releases = program
    .command('releases')
    .description('the versions of functions that running executions may need, and those that nothing needs');
  releases
    .command('list')
    .description('every version of every function, and why it is kept')
    .option('--older-than <days>', 'younger versions are kept', defaultDays)
    .action(
      admin.run(async ({ services, output, tell }, { olderThan }: AgeOptions) => {
        const found = await findVersions(services, daysOf(olderThan), tell);
        output.list(found.map(versionRow), 'No version was published yet.');
      }),
    );
  releases
    .command('prune')
    .description('delete the versions that no definition, running execution or alias names')
    .option('--older-than <days>', 'keep versions that were published later', defaultDays)
    .option('--dry-run', 'only show what would be deleted')
    .action(
      admin.run(
        async ({ services, output, tell }, { olderThan, dryRun }: AgeOptions & { dryRun?: boolean }) => {
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
        },
      ),
    );
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
