import { resolve } from 'node:path';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';

export function addBackupCommand(program: OperatorCommand): void {
  program
    .task('backup', 'copy the folder of `darkroom serve` as it is now, while the service goes on')
    .requiredOption(
      '--to <folder>',
      'a new folder; a service that starts on a copy of it continues from here',
    )
    .run(async ({ services, output }, { to }: { to: string }) => {
      if (!services.owned)
        throw new OperatorError('Only a service that `darkroom serve` runs can be copied.');
      output.show(await services.owned.backup(resolve(to)));
    });
}
