/** Runs the smoke test and prints its steps: one line for each, or one JSON document at the end. */
import pc from 'picocolors';
import { visibleJson, visibleText } from '../../client/command/terminal/visible-text.ts';
import { createSmokeClient, SmokeError } from './client.ts';
import { runSmoke } from './steps.ts';

export interface SmokeCommand {
  readonly api: string;
  readonly key: string;
  readonly model: string;
  readonly webhook?: string;
  readonly within: string;
  readonly json?: boolean;
}

/** Gives the exit code: 1 when a step fails or an option is wrong. */
export async function reportSmoke(command: SmokeCommand): Promise<number> {
  const isJson = command.json === true;
  const steps: { readonly step: string; readonly found: string }[] = [];
  const tell = (step: string, found: string): void => {
    steps.push({ step, found });
    if (!isJson) console.log(`${pc.green('✓')} ${step.padEnd(18)} ${visibleText(found)}`);
  };
  try {
    const { cost } = await checkedSmoke(command, tell);
    if (isJson) console.log(visibleJson({ ok: true, cost, steps }));
    else console.log(`\n${pc.bold('The service works.')} It cost ${cost} USD of the account.`);
    return 0;
  } catch (error) {
    if (!(error instanceof SmokeError)) throw error;
    if (isJson) console.log(visibleJson({ ok: false, error: error.message, steps }));
    else console.error(`${pc.red('✗')} ${visibleText(error.message)}`);
    return 1;
  }
}

async function checkedSmoke(
  { api, key, model, webhook, within }: SmokeCommand,
  tell: (step: string, found: string) => void,
): Promise<{ readonly cost: number }> {
  if (!URL.canParse(api))
    throw new SmokeError(
      `--api: ${JSON.stringify(api)} is no address, such as https://abc.execute-api.us-east-1.amazonaws.com/api/public/v1.`,
    );
  if (!/^[1-9]\d*$/.test(within))
    throw new SmokeError(`--within: ${JSON.stringify(within)} is no whole number of seconds, such as 60.`);
  const options = {
    model,
    withinSeconds: Number(within),
    ...(webhook !== undefined && { webhookUrl: webhook }),
  };
  return runSmoke(createSmokeClient(api, key), options, tell);
}
