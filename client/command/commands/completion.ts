import { Argument, type Command } from 'commander';
import { shells, type Shell } from '../completion/shells.ts';
import { placesOf } from '../completion/words.ts';
import type { Run } from '../session.ts';

export function addCompletionCommand(program: Command, run: Run): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(Object.keys(shells)))
    .description('print the completion for your shell, such as: eval "$(darkroom completion bash)"')
    .action(
      run(async ({ io }, shell: Shell) => {
        io.out.write(shells[shell](placesOf(program)));
        // The only command that waits for nothing.
        return Promise.resolve();
      }),
    );
}
