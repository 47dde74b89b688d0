/** `npm run smoke`: does a deployed Darkroom do what it promises? Asked from outside, as a client asks. */
import { Command } from 'commander';
import pc from 'picocolors';
import { createSmokeClient, SmokeError } from '../tools/smoke/client.ts';
import { runSmoke } from '../tools/smoke/steps.ts';
import { visibleJson, visibleText } from '../terminal/visible-text.ts';

interface Options {
  readonly api: string;
  readonly key: string;
  readonly model: string;
  readonly webhook?: string;
  readonly within: string;
  readonly json?: boolean;
}

const options = new Command('npm run smoke --')
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
  .opts<Options>();

const isJson = options.json === true;
const steps: { readonly step: string; readonly found: string }[] = [];

function tell(step: string, found: string): void {
  steps.push({ step, found });
  if (!isJson) console.log(`${pc.green('✓')} ${step.padEnd(18)} ${visibleText(found)}`);
}

try {
  if (!URL.canParse(options.api))
    throw new SmokeError(
      `--api: ${JSON.stringify(options.api)} is no address, such as https://abc.execute-api.us-east-1.amazonaws.com/api/public/v1.`,
    );
  const withinSeconds = Number(options.within);
  if (!/^[1-9]\d*$/.test(options.within))
    throw new SmokeError(
      `--within: ${JSON.stringify(options.within)} is no whole number of seconds, such as 60.`,
    );
  const { cost } = await runSmoke(
    createSmokeClient(options.api, options.key),
    {
      model: options.model,
      withinSeconds,
      ...(options.webhook !== undefined && { webhookUrl: options.webhook }),
    },
    tell,
  );
  if (isJson) console.log(visibleJson({ ok: true, cost, steps }));
  else console.log(`\n${pc.bold('The service works.')} It cost ${cost} USD of the account.`);
} catch (error) {
  if (!(error instanceof SmokeError)) throw error;
  if (isJson) console.log(visibleJson({ ok: false, error: error.message, steps }));
  else console.error(`${pc.red('✗')} ${visibleText(error.message)}`);
  process.exitCode = 1;
}
