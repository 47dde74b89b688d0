/** The command line of `npm start`. */
import { Command } from 'commander';
import type { StartOptions } from './until-stopped.ts';

interface Given {
  readonly port: string;
  readonly data: string;
  readonly json?: boolean;
  readonly strictOutbound?: boolean;
  readonly publicUrl?: string;
  readonly transactionHold: string;
  readonly minFree: string;
  readonly env: StartOptions['env'];
}

/** Reads the options. A wrong value ends the process with one sentence and exit code 1. */
export function startOptions(argv: readonly string[]): StartOptions {
  const given = new Command('npm start --')
    .description('The whole of Darkroom on this machine, until Ctrl-C')
    .option('--port <n>', 'where it listens, on loopback', '8787')
    .option('--data <folder>', 'where its state is kept', '.darkroom')
    .option('--json', 'one JSON object a line')
    .option(
      '--strict-outbound',
      'the deployed rules for addresses: public hosts, https for webhooks, http(s) for images',
    )
    .option(
      '--public-url <url>',
      'where vendors reach this machine from outside, so that they call back; without it their jobs are polled',
    )
    .option(
      '--transaction-hold <ms>',
      'how long a transaction of DynamoDB holds its items and refuses other writes on them',
      '0',
    )
    .option(
      '--min-free <mb>',
      'below these free megabytes on the disk of the data folder, new work is refused with 503',
      '256',
    )
    .option(
      '--env <NAME=VALUE>',
      'another value for a variable that the functions declare; any number of times',
      addVariable,
      {},
    )
    .parse(argv)
    .opts<Given>();
  return {
    port: numberOf('--port', given.port, 65_535),
    data: given.data,
    json: given.json === true,
    strictOutbound: given.strictOutbound === true,
    ...(given.publicUrl !== undefined && { publicUrl: publicUrlOf(given.publicUrl) }),
    transactionHoldMillis: numberOf('--transaction-hold', given.transactionHold, maxHoldMillis),
    minFreeBytes: numberOf('--min-free', given.minFree, 999_999_999) * 1024 * 1024,
    env: given.env,
  };
}

/** @param where the option, or where else the text comes from */
export function refuse(where: string, text: string, what: string): never {
  console.error(`${where}: ${JSON.stringify(text)} is no ${what}`);
  process.exit(1);
}

export function addVariable(text: string, before: StartOptions['env'], where = '--env'): StartOptions['env'] {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { ...before, [name]: value };
  return refuse(where, text, 'NAME=VALUE, such as AUTH_FAILURE_FORM=plain.');
}

/** Without a slash at its end. */
export function publicUrlOf(text: string, where = '--public-url'): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (isBare && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  return refuse(where, text, 'address, such as https://pictures.example.com.');
}

/** The service waits some seconds for an answer (service/aws/call-limits.ts), so longer holds only fail. */
const maxHoldMillis = 60_000;
const wordsOfNumber = {
  '--transaction-hold': `time; it would be milliseconds from 0 to ${maxHoldMillis}.`,
  '--min-free': 'number of megabytes, such as 256; 0 takes new work until the disk is full.',
  '--port': 'port; it would be a number from 0 (any free one) to 65535.',
} as const;

export function numberOf(
  option: keyof typeof wordsOfNumber,
  text: string,
  most: number,
  where: string = option,
): number {
  const isNumber = /^\d+$/.test(text) && Number(text) <= most;
  return isNumber ? Number(text) : refuse(where, text, wordsOfNumber[option]);
}
