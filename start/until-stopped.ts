/** `npm start`: runs the service on this machine until SIGINT or SIGTERM, and prints what happens. */
import pc from 'picocolors';
import { FolderRefused } from '../local/folder-refused.ts';
import { isOfDisk, WriteFailed } from '../local/write-failed.ts';
import { visibleJson } from '../client/command/terminal/visible-text.ts';
import { demoEmail } from './demo-person.ts';
import { eventLine, eventObject, parseLogLine } from './events.ts';
import { startService, type RunningService } from './service.ts';
import { InputRefused } from './synthesized-template.ts';

export interface StartOptions {
  readonly port: number;
  readonly data: string;
  readonly json: boolean;
  readonly strictOutbound: boolean;
  readonly publicUrl?: string;
  readonly transactionHoldMillis: number;
  readonly minFreeBytes: number;
  readonly env: Readonly<Record<string, string>>;
}

/** The exit code when the disk is full or broken (EX_IOERR of sysexits). */
const diskExitCode = 74;

/**
 * Ends the process with exit code 0 after a signal, with 1 when the service cannot start, and with 74 when the disk
 * takes no more writes.
 */
export async function runUntilStopped(options: StartOptions): Promise<void> {
  try {
    const service = await startService({
      folder: options.data,
      port: options.port,
      strictOutbound: options.strictOutbound,
      ...(options.publicUrl !== undefined && { publicUrl: options.publicUrl }),
      transactionHoldMillis: options.transactionHoldMillis,
      minFreeBytes: options.minFreeBytes,
      onWriteFailed: endAfter,
      environment: options.env,
      onProgress: (line) => console.error(pc.dim(line)),
      onLog: (line) => printEvent(line, options.json),
    });
    console.log(options.json ? readyJson(service) : readyText(service, options.data));
    stopAtSignal(service, options.json);
  } catch (error) {
    const cause = diskCauseOf(error);
    if (cause) endAfter(new WriteFailed(`The files in ${options.data}`, cause));
    console.error(explain(error, options.port));
    process.exit(1);
  }
}

function endAfter(failure: WriteFailed): never {
  console.error(failure.message);
  process.exit(diskExitCode);
}

/** The error of the file system, when the disk refused a write. */
function diskCauseOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return isOfDisk(error) ? error : diskCauseOf(error.cause);
}

function printEvent(line: string, json: boolean): void {
  const fields = parseLogLine(line);
  if (!fields) return;
  const printed = json ? eventObject(fields) : eventLine(fields);
  if (printed !== undefined) console.log(typeof printed === 'string' ? printed : visibleJson(printed));
}

function readyJson({ machine, demo }: RunningService): string {
  const { apiUrl: api, inboxUrl: inbox, localUrl: local, portalUrl: portal } = machine;
  const { openaiUrl: openai, mcpUrl: mcp } = machine;
  const { key, accountId: account } = demo;
  return JSON.stringify({ event: 'ready', api, key, account, inbox, local, portal, openai, mcp });
}

function readyText({ machine, demo }: RunningService, data: string): string {
  const { apiUrl: api, inboxUrl: inbox, portalUrl: portal, openaiUrl, mcpUrl } = machine;
  const body = JSON.stringify({
    model: 'sandbox-standard',
    prompt: 'a quiet lake at dawn',
    webhook_url: inbox,
  });
  const headers = `-H 'Authorization: Bearer ${demo.key}' -H 'Content-Type: application/json'`;
  const aboutAccount = pc.dim('(ACCOUNT of the operator’s command; 25 USD to begin with)');
  const aboutHelp =
    'npm run admin -- --help lists what an operator can do. Ctrl-C ends the service; its state stays.';
  return `
  ${pc.bold('Darkroom')} runs on this machine.

  API      ${pc.cyan(api)}
  account  ${demo.accountId}   ${aboutAccount}
  key      ${demo.key}   ${pc.dim('(new at every start)')}
  OpenAI   ${pc.cyan(openaiUrl)}   ${pc.dim('(base URL for libraries of the OpenAI API)')}
  MCP      ${pc.cyan(mcpUrl)}   ${pc.dim('(for agents)')}
  portal   ${pc.cyan(portal)}   ${pc.dim(`(sign in as ${demoEmail})`)}
  inbox    ${pc.cyan(inbox)}   ${pc.dim('(webhooks, with their pictures, in a browser)')}
  state    ${data}

  Try it:

  curl -s ${api}/images/generate ${headers} -d '${body}'

  ${pc.dim(aboutHelp)}
`;
}

/** Explains in one sentence why the service cannot start. Throws every error that has no such explanation. */
function explain(error: unknown, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use: end what listens there, or choose another with --port.`;
  if (error instanceof FolderRefused || error instanceof InputRefused) return error.message;
  throw error;
}

function stopAtSignal({ machine }: RunningService, json: boolean): void {
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    if (!json) console.log(pc.dim('Ending; what is open goes on at the next start.'));
    machine.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}
