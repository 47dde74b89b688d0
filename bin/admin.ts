/** The operator's command: accounts, keys, wallets, webhooks, creations, providers, catalog, audit. */
import { Command } from 'commander';
import { addAccountCommands } from './admin/accounts.ts';
import { createAdmin } from './admin/admin.ts';
import { addAuditCommand } from './admin/audit.ts';
import { addCatalogCommands } from './admin/catalog.ts';
import { addCreationCommands } from './admin/creations.ts';
import { addKeyCommands } from './admin/keys.ts';
import { OperatorError } from './admin/operator-error.ts';
import { addProviderCommands } from './admin/providers.ts';
import { addWalletCommands } from './admin/wallet.ts';
import { addWebhookCommands } from './admin/webhooks.ts';

const program = new Command('npm run admin --')
  .description("Darkroom's operator command: for the running local service, or a deployed stack")
  .option('--json', 'one JSON document instead of a table')
  .option('--data <folder>', 'the folder of the local service', '.darkroom')
  .option('--stack <name>', 'a deployed stack, with the AWS credentials and region of the environment')
  .showHelpAfterError('(add --help for what a command takes)');

const admin = createAdmin(program);
addAccountCommands(program, admin);
addKeyCommands(program, admin);
addWalletCommands(program, admin);
addWebhookCommands(program, admin);
addCreationCommands(program, admin);
addProviderCommands(program, admin);
addCatalogCommands(program, admin);
addAuditCommand(program, admin);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  const { json } = program.opts<{ json?: boolean }>();
  console.error(json === true ? JSON.stringify({ error: { message: error.message, ...error.details } }) : error.message);
  process.exitCode = 1;
}
