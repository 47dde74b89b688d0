import { resolve } from 'node:path';
import { booksText, importService } from '../move/import-service.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { createProgress } from '../terminal/dialogue.ts';

export function addImportCommand(program: OperatorCommand): void {
  program
    .task('import', 'import an export into an empty stack; after an interruption, run it again')
    .requiredOption('--from <folder>', 'the folder that `export --to` has written')
    .run(async ({ services, output, tell }, { from }: { from: string }) => {
      const progress = createProgress(services.clock, tell);
      const { books, isRepeated, invited, unreached } = await importService(
        services,
        resolve(from),
        progress,
      );
      output.show(
        { ...books, books_equal: true, already_imported: isRepeated, invited, not_reached: unreached },
        isRepeated
          ? 'This export was imported before. Nothing was changed.'
          : `The books are equal: ${booksText(books)}. The service is closed: \`service open\` opens it.${unreached.length > 0 ? ' No e-mail reached some people: `people invite` writes to them.' : ''}`,
      );
    });
}
