/** `npm start`: the whole service on this machine, until Ctrl-C. */
import { Command } from 'commander';
import pc from 'picocolors';
import { eventLine, eventObject, parseLogLine } from '../start/events.ts';
import { FolderRefused } from '../local/folder-lock.ts';
import { InputRefused } from '../start/synthesized-template.ts';
import { startService, type RunningService } from '../start/service.ts';
import { visibleJson } from '../terminal/visible-text.ts';

interface Options {
  readonly port: string;
  readonly data: string;
  readonly json?: boolean;
  readonly strictOutbound?: boolean;
  readonly env: Readonly<Record<string, string>>;
}

const options = new Command('npm start --')
  .description('The whole of Darkroom on this machine, until Ctrl-C')
  .option('--port <n>', 'where it listens, on loopback', '8787')
  .option('--data <folder>', 'where its state is kept', '.darkroom')
  .option('--json', 'one JSON object a line')
  .option(
    '--strict-outbound',
    'the deployed rules for addresses: public hosts, https for webhooks, http(s) for images',
  )
  .option(
    '--env <NAME=VALUE>',
    'another value for a variable that the functions declare; any number of times',
    addVariable,
    {},
  )
  .parse()
  .opts<Options>();

function addVariable(text: string, before: Options['env']): Options['env'] {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { ...before, [name]: value };
  console.error(`--env: ${JSON.stringify(text)} is no NAME=VALUE, such as AUTH_FAILURE_FORM=plain.`);
  process.exit(1);
}

const json = options.json === true;

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  console.error(
    `--port: ${JSON.stringify(text)} is no port; it would be a number from 0 (any free one) to 65535.`,
  );
  process.exit(1);
}

function onLog(line: string): void {
  const fields = parseLogLine(line);
  if (!fields) return;
  const printed = json ? eventObject(fields) : eventLine(fields);
  if (printed !== undefined) console.log(typeof printed === 'string' ? printed : visibleJson(printed));
}

function announce({ machine, demo }: RunningService): void {
  const { apiUrl: api, inboxUrl: inbox, localUrl: local } = machine;
  if (json) {
    console.log(
      JSON.stringify({ event: 'ready', api, key: demo.key, account: demo.accountId, inbox, local }),
    );
    return;
  }
  const body = JSON.stringify({
    model: 'sandbox-standard',
    prompt: 'a quiet lake at dawn',
    webhook_url: inbox,
  });
  console.log(`
  ${pc.bold('Darkroom')} runs on this machine.

  API      ${pc.cyan(api)}
  account  ${demo.accountId}   ${pc.dim('(ACCOUNT of the operator’s command; 25 USD to begin with)')}
  key      ${demo.key}   ${pc.dim('(new at every start)')}
  inbox    ${pc.cyan(inbox)}   ${pc.dim('(webhooks, with their pictures, in a browser)')}
  state    ${options.data}

  Try it:

  curl -s ${api}/images/generate -H 'Authorization: Bearer ${demo.key}' -H 'Content-Type: application/json' -d '${body}'

  ${pc.dim('npm run admin -- --help lists what an operator can do. Ctrl-C ends the service; its state stays.')}
`);
}

/** Answers to a start that cannot be: one sentence that says what to do. */
function explain(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `Port ${options.port} is in use: end what listens there, or choose another with --port.`;
  if (error instanceof FolderRefused || error instanceof InputRefused) return error.message;
  throw error;
}

const port = portOf(options.port);
try {
  const service = await startService({
    folder: options.data,
    port,
    strictOutbound: options.strictOutbound === true,
    environment: options.env,
    onProgress: (line) => console.error(pc.dim(line)),
    onLog,
  });
  announce(service);
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    if (!json) console.log(pc.dim('Ending; what is open goes on at the next start.'));
    service.machine.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}
