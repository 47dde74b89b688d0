/** The commands `backup`: a copy of one machine's folder, and what follows a restore. */
import { resolve } from 'node:path';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { enterAfter, type Found, groups } from '../restore/enter.ts';
import { openRestored, type RestoredOptions } from '../restore/old-items.ts';
import { verifyFolder, verifyRestored, verifyService } from '../restore/verify.ts';
import { createProgress } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';

export function addBackupCommand(program: OperatorCommand): void {
  const backup = program
    .task('backup', 'copy the folder of `darkroom serve` as it is now, or go on after a restore')
    .option('--to <folder>', 'a new folder; a service that starts on a copy of it continues from here')
    .run(async ({ services, output, tell }, { to }: { to?: string }) => {
      if (to === undefined) throw new OperatorError('--to: name a new folder.');
      if (!services.owned)
        throw new OperatorError('Only a service that `darkroom serve` runs can be copied.');
      const progress = createProgress(services.clock, tell);
      const made = await services.owned.backup(resolve(to), ({ files, bytes }) =>
        progress(() => `${files} files copied, ${Math.round(bytes / 1e6)} MB`),
      );
      output.show(made);
    });
  backup
    .task('verify', 'whether the service could be restored; exit code 1 when it could not')
    .option('--table <table>', 'a restored table: its books and its secrets, too')
    .option('--from <folder>', 'a folder that `backup --to` has made')
    .run(async ({ services, output, fail }, { table, from }: RestoredOptions) => {
      if (services.owned && from === undefined)
        throw new OperatorError('--from: name the folder of a backup: this service has no others.');
      const rows =
        from !== undefined
          ? await verifyFolder(resolve(from), services.table.name)
          : table !== undefined
            ? await verifyRestored({ ...services, table: { ...services.table, name: table } })
            : await verifyService(services);
      output.list(
        rows.map((row) => ({ ...row })),
        '',
      );
      if (rows.some(({ ok }) => !ok)) fail();
    });
  addEntering(backup, false);
  addEntering(backup, true);
}

interface Options extends RestoredOptions {
  readonly skip?: string;
}

function addEntering(backup: OperatorCommand, isEntered: boolean): void {
  backup
    .task(
      isEntered ? 'enter' : 'compare',
      isEntered
        ? 'enter into a restored table what came after its moment; after an interruption, run it again'
        : 'list what came after the moment of a restored table, and change nothing',
    )
    .option('--table <table>', "the restored table; the default is the service's own")
    .option('--from <place>', 'the old table, or the folder of the old service; DynamoDB knows the table')
    .option('--since <moment>', 'the moment of the restore, RFC 3339; DynamoDB knows it')
    .option('--skip <list>', `leave out some of ${groups.join(', ')}`)
    .run(async ({ services, output, tell, fail }, { skip = '', ...options }: Options) => {
      const left = skip.split(',').filter(Boolean);
      const skipped = new Set(left.map((one) => values.oneOf('--skip', one, groups)));
      const restored = await openRestored(services, options);
      const found: Found[] = [];
      const { isUsed, differences } = await enterAfter(restored, {
        isEntered,
        skip: skipped,
        onFound: (one) => found.push(one),
        onProgress: createProgress(services.clock, tell),
      });
      output.list(
        found.map((one) => ({ ...one })),
        'Nothing came after that moment.',
      );
      const open = found.filter((one) => one.left !== null).length;
      tell(
        isEntered
          ? `${found.length - open} entered, ${open} left to you. ${differences.length === 0 ? 'The books balance.' : `\`audit\` shows ${differences.length} differences.`}`
          : `${found.length} came after ${new Date(restored.sinceMillis).toISOString()}. Nothing was changed.`,
      );
      if (isUsed) tell('The restored table was used since, so changes are left to you.');
      if (differences.length > 0) fail();
    });
}
