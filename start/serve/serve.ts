/** `darkroom serve`: the service for others on one machine, until SIGINT or SIGTERM. */
import { chmodSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { visibleJson } from '../../client/command/terminal/visible-text.ts';
import { addressOf, operatorServices, type OperatorServices } from '../../admin/services.ts';
import { FolderRefused, makeFolder, WriteFailed } from '../../local/disk.ts';
import { listenOnLoopback, sendText } from '../../local/http.ts';
import { parseJson, isObject } from '../../local/json.ts';
import { type OneMachine, startOneMachine } from '../../local/one-machine.ts';
import { publicUrlOf } from '../../local/public-door.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { InputRefused, synthesizedTemplate } from '../synthesized-template.ts';
import { diskCauseOf, diskExitCode, endAfter } from '../until-stopped.ts';
import { createLinkDoor, firstLink } from './link-door.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { type CertificateFiles, readCertificate } from './certificate.ts';
import type { ServeOptions } from './options.ts';

/** How long a running answer may take after the signal. */
const drainMillis = 8_000;
/** No issuer listens there. Without an issuer people sign in by links, and only a sign-out asks. */
const noIssuer = 'http://127.0.0.1:1/';

const portalSettings = {
  emails_are_verified: false,
  has_auth_time: true,
  payment_url: null,
  takes_payments: false,
  contact: 'Ask the operator of this service.',
  credentials_url: null,
  inbox_url: null,
};

type Tell = (level: 'info' | 'error', event: string, fields?: Readonly<Record<string, unknown>>) => void;

const tell: Tell = (level, event, fields = {}) =>
  print({ level, event, at: new Date().toISOString(), ...fields });

function print(line: object): void {
  process.stdout.write(`${visibleJson(line)}\n`);
}

/** Ends the process with 0 after a signal, 1 when there is no start, and 74 when the disk takes no writes. */
export async function serve(options: ServeOptions): Promise<void> {
  // Nothing that the service writes is for other users of this machine.
  process.umask(0o077);
  // The parts of the machine print failures for a person. Here a program reads them.
  console.error = (...parts) => tell('error', 'machine', { message: parts.map(textOf).join(' ') });
  try {
    closeFolder(options.data);
    const metrics = createMetrics();
    const { machine, operator, origin } = await start(options, metrics);
    if (options.metrics) await listenForMetrics(options.metrics, metrics);
    const link = await firstLink(operator, origin);
    if (link !== undefined)
      process.stderr.write(`\nThe first owner begins here, within 30 minutes and once:\n\n  ${link}\n\n`);
    if (options.tls) renewAtSignal(machine, options.tls.files);
    stopAtSignal(machine);
    tell('info', 'ready', { url: origin, data: options.data });
  } catch (error) {
    const cause = diskCauseOf(error);
    if (cause) {
      process.stderr.write(`${new WriteFailed(`The files in ${options.data}`, cause).message}\n`);
      process.exit(diskExitCode);
    }
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isKnown = error instanceof FolderRefused || error instanceof InputRefused || code === 'EADDRINUSE';
    process.stderr.write(`${isKnown && error instanceof Error ? error.message : inspect(error)}\n`);
    process.exit(1);
  }
}

async function start(
  options: ServeOptions,
  metrics: Metrics,
): Promise<{ machine: OneMachine; operator: OperatorServices; origin: string }> {
  const { data, host, port, publicUrl, trusted, tls, issuer } = options;
  const running: { operator?: OperatorServices } = {};
  const service = {
    host,
    trusted,
    ...(tls && { tls: tls.pem }),
    ...(publicUrl !== undefined && { url: publicUrl }),
  };
  const origin = publicUrlOf(service, port);
  const machine = await startOneMachine({
    templatePath: await synthesizedTemplate(),
    folder: resolve(data),
    port,
    minFreeBytes: options.minFreeBytes,
    memoryMegabytes: options.memoryMegabytes,
    onWriteFailed: endAfter,
    service: {
      ...service,
      door: createLinkDoor({
        origin,
        hasIssuer: issuer !== undefined,
        log: (event, fields) => tell('info', event, fields),
        operator: () => running.operator,
      }),
      onAnswer: metrics.answered,
    },
    environment: {
      TOP_UP_URL: '{origin}/portal/wallet',
      PORTAL_ISSUER: issuer?.url ?? noIssuer,
      ...(issuer && { PORTAL_CLIENT_ID: issuer.clientId }),
      USER_POOL_ID: '',
      // This machine has no SNS: its portal says that it sends no e-mails.
      MAIL_TOPICS: '',
      PORTAL_SETTINGS: JSON.stringify(portalSettings),
      CALLBACK_BASE_URL: publicUrl ?? '',
      OUTBOUND_RULES: 'public',
      PRIVATE_NETWORKS: options.privateNetworks.join(','),
      ...options.env,
    },
    verifyWebhook: () => Promise.resolve({ verified: false, detail: 'no inbox' }),
    onLog: ({ line }) => printLogged(line, metrics),
  });
  const { outputs } = machine.template;
  const operator = operatorServices(
    {
      ...addressOf((name) => outputs[name] ?? ''),
      portalUrl: machine.portalUrl,
      outboundRules: 'public',
      endpoint: machine.awsUrl,
      secretKey: machine.awsSecretKey,
    },
    { ...systemClock, now: () => machine.clock.now() },
  );
  running.operator = operator;
  return { machine, operator, origin };
}

/** Makes the folder, or takes it from the other users of this machine. */
function closeFolder(folder: string): void {
  makeFolder(folder, 0o700);
  if ((statSync(folder).mode & 0o077) === 0) return;
  chmodSync(folder, 0o700);
  tell('info', 'folder_closed', { message: `Other users could read ${folder}; now only its owner can.` });
}

/** The functions log JSON. Everything else in their output becomes JSON. */
function printLogged(text: string, metrics: Metrics): void {
  const line = parseJson(text);
  if (!isObject(line)) {
    tell('info', 'output', { message: text });
    return;
  }
  metrics.logged(line);
  const { _aws, ...rest } = line;
  print(rest);
}

async function listenForMetrics(
  { host, port }: NonNullable<ServeOptions['metrics']>,
  metrics: Metrics,
): Promise<void> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    if (incoming.url === '/metrics') sendText(outgoing, 200, 'text/plain; version=0.0.4', metrics.text());
    else sendText(outgoing, 404, 'text/plain', 'only /metrics is here\n');
  });
  server.unref();
  await listenOnLoopback(server, port, host);
}

/** SIGHUP: the files of the certificate were replaced. */
function renewAtSignal(machine: OneMachine, files: CertificateFiles): void {
  process.on('SIGHUP', () => {
    try {
      machine.renewCertificate(readCertificate(files));
      tell('info', 'certificate_renewed', { ...files });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      tell('error', 'certificate_kept', { message: `${why} The certificate of before stays.` });
    }
  });
}

function stopAtSignal(machine: OneMachine): void {
  let isEnding = false;
  const end = (): void => {
    if (isEnding) process.exit(1);
    isEnding = true;
    tell('info', 'ending');
    machine
      .drain(drainMillis)
      .then(machine.stop)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`${inspect(error)}\n`);
          process.exit(1);
        },
      );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}

function textOf(part: unknown): string {
  return typeof part === 'string' ? part : inspect(part);
}
