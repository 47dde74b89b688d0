/** `npm start`: runs the service on this machine until SIGINT or SIGTERM, and prints what happens. */
import pc from 'picocolors';
import * as z from 'zod';
import { visibleJson, visibleText } from '../client/command/terminal/visible-text.ts';
import { FolderRefused, isOfDisk, WriteFailed } from '../local/disk.ts';
import { failureNamed, failures } from '../service/contract/failures.ts';
import { asMicros, formatUsd } from '../service/values/money.ts';
import { demoEmail } from './demo-account.ts';
import { type RunningService, startService } from './service.ts';
import { InputRefused } from './synthesized-template.ts';

/** The printed events of a running service: one line for a person, or one object for a program. */
type Fields = Readonly<Record<string, unknown>>;

/** Parses a structured log line of a function. Gives undefined for every other line of its output. */
export function parseLogLine(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return withoutMetrics(lineSchema.parse(JSON.parse(line)));
  } catch {
    return undefined;
  }
}

const metricsSchema = z.object({
  CloudWatchMetrics: z.array(z.object({ Metrics: z.array(z.object({ Name: z.string() })) })),
});
const lineSchema = z.looseObject({ _aws: metricsSchema.optional() });

/** The metrics of a line repeat other fields of the line, so a person does not need them. */
function withoutMetrics({ _aws, ...fields }: z.infer<typeof lineSchema>): Fields {
  const names = new Set(_aws?.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}

/** One line for a person. Undefined for events that only the log needs. */
export function eventLine(logged: Fields): string | undefined {
  const fields = visible(logged);
  const text = sentence(fields);
  if (text === undefined) return undefined;
  const time = String(fields['at']).slice(11, 19);
  const named = ['creationId', 'noticeId'].find((name) => name in fields);
  const id = named === undefined ? '' : `  ${pc.dim(String(fields[named]))}`;
  return `${pc.dim(time)}  ${text}${id}`;
}

/** Texts from clients and vendors must not move the cursor of the terminal. */
function visible(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? visibleText(value) : value,
    ]),
  );
}

function sentence(fields: Fields): string | undefined {
  switch (fields['event']) {
    case 'creation_accepted':
      return `${pc.cyan('accepted')}   ${String(fields['model'])}, ${usd(fields['costMicros'])}`;
    case 'creation_completed':
      return `${pc.green('completed')}  in ${(Number(fields['millis']) / 1000).toFixed(1)} s`;
    case 'creation_failed':
      return `${pc.red('failed')}     ${messageOf(fields['failure'])} (refunded ${usd(fields['refundedMicros'])})`;
    case 'webhook_attempted':
      return `${pc.magenta('webhook')}    ${attemptText(fields)}`;
    case 'notice_told':
      return `${pc.magenta('notice')}     ${String(fields['type'])}`;
    default:
      return fields['level'] === 'alarm'
        ? `${pc.yellow('alarm')}      ${String(fields['event'])}`
        : undefined;
  }
}

const usd = (micros: unknown): string => formatUsd(asMicros(Number(micros)));
const messageOf = (failure: unknown): string => failures[failureNamed(String(failure))].message;

/** The status is that of the receiver's answer, and is missing when no answer came. */
function attemptText(fields: Fields): string {
  const status = 'status' in fields ? ` (${String(fields['status'])})` : '';
  return `attempt ${String(fields['attempt'])}: ${String(fields['outcome'])}${status}`;
}

/** The same event for a program, with names in snake_case as in the API. */
export function eventObject(fields: Fields): Fields | undefined {
  if (sentence(fields) === undefined) return undefined;
  const { event, level: _level, component: _component, ...rest } = fields;
  const snake = Object.entries(rest).map(([name, value]): [string, unknown] => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { event: String(event).replace('creation_', ''), ...Object.fromEntries(snake) };
}

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
export const diskExitCode = 74;

/** Ends the process with 0 after a signal, 1 when there is no start, and 74 when the disk takes no writes. */
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

export function endAfter(failure: WriteFailed): never {
  console.error(failure.message);
  process.exit(diskExitCode);
}

/** The error of the file system, when the disk refused a write. */
export function diskCauseOf(error: unknown): Error | undefined {
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
