/** `npm run smoke`: checks from outside, as a client, that a deployed Darkroom works. */
import { Command } from 'commander';
import { reportSmoke, type SmokeCommand } from '../admin/smoke/steps.ts';

const command = new Command('npm run smoke --')
  .description(
    'Render one picture of the sandbox over a deployed API, and see that it is charged once and a failure refunded',
  )
  .requiredOption('--api <url>', "the stack's output ApiUrl")
  .requiredOption('--key <key>', 'an API key of an account with some cents')
  .option('--model <id>', 'a model of the sandbox', 'sandbox-sketch')
  .option('--webhook <url>', 'have a webhook sent there, and see that it is delivered')
  .option('--within <seconds>', 'how long one creation may take', '60')
  .option('--json', 'one JSON document')
  .parse()
  .opts<SmokeCommand>();

process.exitCode = await reportSmoke(command);
