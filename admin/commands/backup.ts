import { resolve } from 'node:path';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { createProgress } from '../terminal/dialogue.ts';

export function addBackupCommand(program: OperatorCommand): void {
  program
    .task('backup', 'copy the folder of `darkroom serve` as it is now, while the service goes on')
    .requiredOption(
      '--to <folder>',
      'a new folder; a service that starts on a copy of it continues from here',
    )
    .run(async ({ services, output, tell }, { to }: { to: string }) => {
      if (!services.owned)
        throw new OperatorError('Only a service that `darkroom serve` runs can be copied.');
      const progress = createProgress(services.clock, tell);
      const made = await services.owned.backup(resolve(to), ({ files, bytes }) =>
        progress(() => `${files} files copied, ${Math.round(bytes / 1e6)} MB`),
      );
      output.show(made);
    });
}
