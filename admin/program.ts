/** The operator's command line: all commands, and one run of one of them. */
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { visibleJson, visibleText } from '../client/command/terminal/visible-text.ts';
import { type Console, OperatorCommand } from './operator-command.ts';
import { addAccountCommands } from './commands/accounts.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addCanaryCommands } from './commands/canary.ts';
import { addCatalogCommands } from './commands/catalog.ts';
import { addCreationCommands } from './commands/creations.ts';
import { addEvidenceCommand } from './commands/evidence.ts';
import { addExportCommands } from './commands/export.ts';
import { addFigureCommands } from './commands/figures.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addOperatorKeyCommands } from './commands/operator-keys.ts';
import { addPaymentCommands } from './commands/payments.ts';
import { addPeopleCommands } from './commands/people.ts';
import { addProviderCommands } from './commands/providers.ts';
import { addReleaseCommands } from './commands/releases.ts';
import { addResultsCommands } from './commands/results.ts';
import { addBackupCommand } from './commands/backup.ts';
import { addBlockCommands, addPortalCommands, addServiceCommands } from './commands/service.ts';
import { addWalletCommands } from './commands/wallet.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { FileProblems } from './operator-error.ts';
import { complaintOf } from './terminal/complaint.ts';

/** In the order of the help. */
const commands = [
  addAccountCommands,
  addKeyCommands,
  addOperatorKeyCommands,
  addPeopleCommands,
  addWalletCommands,
  addPaymentCommands,
  addWebhookCommands,
  addCreationCommands,
  addBlockCommands,
  addPortalCommands,
  addResultsCommands,
  addProviderCommands,
  addCatalogCommands,
  addFigureCommands,
  addExportCommands,
  addImportCommand,
  addAuditCommand,
  addBackupCommand,
  addReleaseCommands,
  addCanaryCommands,
  addEvidenceCommand,
  addServiceCommands,
];

/** Runs one command and returns its exit code. Every error is printed as one sentence. */
export async function runAdmin(args: readonly string[], said: Omit<Console, 'fail'>): Promise<number> {
  let code = 0;
  const program = new OperatorCommand({ ...said, fail: () => (code = 1) }, 'npm run admin --')
    .description("Darkroom's operator command: for the running local service, or a deployed stack")
    .option('--json', 'one JSON document instead of a table')
    .option('--data <folder>', 'the folder of the local service', '.darkroom')
    .option('--stack <name>', 'a deployed stack, with the AWS credentials and region of the environment')
    .option('--debug', 'with an error, its stack as well')
    // A command copies these settings when it is added, so they come first.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => said.print(text.trimEnd()),
      writeErr: (text) => said.complain(text.trimEnd()),
    })
    .showHelpAfterError('(add --help for what a command takes)');

  for (const add of commands) add(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const { json, debug } = program.opts<{ json?: boolean; debug?: boolean }>();
    const { message, details } = complaintOf(error);
    said.complain(json === true ? visibleJson({ error: { message, ...details } }) : visibleText(message));
    const problems = error instanceof FileProblems && error.problems.length > 1 ? error.problems : [];
    if (json !== true) for (const problem of problems) said.complain(visibleText(problem));
    if (debug === true) said.complain(inspect(error).split('\n').map(visibleText).join('\n'));
    return 1;
  }
}
