import { createHmac } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { createInterface } from 'node:readline';
import { Option } from 'commander';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { checkedWord } from '../checked.ts';
import { CommandError } from '../complaint.ts';
import { cursorStore, holdAlone, listenerHash } from '../listen/cursor-file.ts';
import { forward, forwardUrl } from '../listen/forward.ts';
import { createListener, type Delivery, type Listener, type ListenerOptions } from '../listen/listener.ts';
import { duration, list } from '../options.ts';
import type { Credentials } from '../profiles.ts';
import { clientOf, colorsOf, type SessionCommand, type Session } from '../session.ts';
import { visibleJson, visibleText } from '../terminal/visible-text.ts';

// The secret with which `listen` signs. It follows from the API key, so it is the same at every start.

/** `whsec_` and the base64 of HMAC-SHA-256 (key, "darkroom listen"). It reveals nothing about the key. */
export function listenSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('darkroom listen').digest('base64')}`;
}

interface ListenOptions {
  readonly forwardTo?: string;
  readonly events?: readonly string[];
  readonly since?: number;
  readonly skipVerify?: boolean;
  readonly notices?: boolean;
  readonly printSecret?: boolean;
  readonly fromNow?: boolean;
}

/** The time limit for a handler, which may stand at a breakpoint. */
const answerMillis = 30_000;

export function addListenCommand(program: SessionCommand): void {
  program
    .task(
      'listen',
      'bring the events of your account to a server on this machine, signed, in order, none missing',
    )
    .option('--forward-to <url>', 'where to, such as localhost:3000/hooks')
    .option('--events <names>', 'only these, with commas between them, such as creation.failed', list)
    .option(
      '--since <time>',
      'of the events that were missed, only those of the last 30s, 10m, 2h or 1d',
      duration,
    )
    .addOption(new Option('--from-now', 'leave out every event that was missed').conflicts('since'))
    .option('--notices', 'the notices of the account as well')
    .option('--skip-verify', 'accept every certificate of an https server')
    .option('--print-secret', 'print the signing secret, and end')
    .run(listen);
}

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { io } = session;
  const credentials = await session.credentials();
  const secret = listenSecret(credentials.apiKey);
  if (options.printSecret === true) {
    io.out.write(`${session.options.json === true ? visibleJson({ secret }) : secret}\n`);
    return;
  }
  const url = options.forwardTo === undefined ? undefined : forwardUrl(options.forwardTo);
  if (!url) throw new CommandError('usage', 'Say where to: --forward-to localhost:3000/hooks');

  const alone = await holdAlone(`darkroom-listen-${credentials.profile}-${listenerHash(credentials)}`);
  if (!alone) {
    throw new CommandError(
      'failed',
      'Another `darkroom listen` runs with this profile and key.',
      'End it, or use another key with `--profile NAME`.',
    );
  }
  try {
    const store = cursorStore(io, credentials);
    if (options.fromNow === true) await store.forget();
    const target = `Forwarding events of ${credentials.baseUrl} to ${url.href}`;
    session.note(`${target}  (profile ${credentials.profile})`);
    session.note(`Signing secret: ${secret}  (always the same for this key)`);
    session.note('Press r and Enter to send the last event again, and Ctrl-C to end.');
    const listener = createListener(listenerOptions(session, credentials, { ...options, url, secret }));
    watchKeys(session, listener);
    await listener.run();
  } catch (error) {
    // Ctrl-C is how a listener ends.
    if (!io.signal.aborted) throw error;
  } finally {
    await alone.release();
  }
}

function listenerOptions(
  session: Session,
  credentials: Credentials,
  options: ListenOptions & { readonly url: URL; readonly secret: string },
): ListenerOptions {
  const { io, note } = session;
  const { url, secret, since, events: names } = options;
  const { events } = clientOf(credentials, io, () => undefined);
  const oldest = since === undefined ? -Infinity : io.now() - since;
  const include = options.notices === true ? 'notices' : undefined;
  const { signal } = io;
  return {
    // The listener repeats by itself, for as long as it takes.
    read: async (query) => events.list({ ...query, limit: 100, include }, { signal }),
    send: async (event) => {
      checkHeaders(event.payload);
      const body = JSON.stringify(event.payload);
      const signedAt = new Date(io.now());
      const headers = await signWebhook(body, secret, { signedAt, deliveryId: io.uuid() });
      const skipVerify = options.skipVerify === true;
      const sent = await forward({ url, skipVerify, timeoutMillis: answerMillis, signal }, headers, body);
      if (sent.kind !== 'untrusted') return sent;
      throw new CommandError(
        'failed',
        `The certificate of ${url.origin} is not trusted (${sent.code}).`,
        'Add --skip-verify if the server is yours.',
      );
    },
    store: cursorStore(io, credentials),
    wants: ({ event, created_at }) =>
      Date.parse(created_at) >= oldest && (names === undefined || names.includes(event)),
    looksBack: since !== undefined,
    machinery: io,
    signal,
    tell: {
      delivered: (delivery) => printDelivery(session, delivery),
      waitsForServer: (code) =>
        note(`${url.origin} does not answer (${code}). Waiting for it: no event is lost.`),
      waitsForService: (error) => note(`${visibleText(error.message)} Trying again until it works.`),
      isBack: () => note('The service answers again.'),
    },
  };
}

/** These members become headers of the webhook. */
function checkHeaders(payload: object): void {
  const { id, event, notice } = payload as Readonly<Record<string, unknown>>;
  checkedWord(id, 'the id of an event');
  checkedWord(event ?? notice, 'the name of an event');
}

/** One line an event: time, event, creation, the answer of the local server, milliseconds. */
function printDelivery({ io, options }: Session, { event, status, millis, isRepeated }: Delivery): void {
  const at = new Date(io.now()).toISOString();
  const { id, event: name, payload, redelivery_of } = event;
  const ms = Math.round(millis);
  if (options.json === true) {
    const line = {
      at,
      id,
      event: name,
      of: payload.id,
      status: status ?? null,
      ms,
      redelivery_of,
      isRepeated,
    };
    io.out.write(`${visibleJson(line)}\n`);
    return;
  }
  const colors = colorsOf(io, io.out);
  const answer =
    status === undefined
      ? `no answer in ${answerMillis / 1000} s`
      : `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  const isGood = status !== undefined && status >= 200 && status < 300;
  const shown = isGood ? colors.green(answer) : colors.red(answer);
  const again = isRepeated ? ' (repeated)' : redelivery_of === null ? '' : ' (redelivery)';
  io.out.write(
    `${colors.dim(at.slice(11, 19))}  ${visibleText(name)}  ${visibleText(payload.id)}  ${shown}  ${colors.dim(`${ms} ms`)}${again}\n`,
  );
}

function watchKeys({ io, note }: Session, listener: Listener): void {
  const lines = createInterface({ input: io.input });
  io.signal.addEventListener('abort', () => lines.close(), { once: true });
  lines.on('line', (line) => {
    if (line.trim().toLowerCase() !== 'r') return;
    listener.repeat().then(
      (hadOne) => hadOne || note('There is no event yet.'),
      (error: unknown) => io.signal.aborted || note(String(error)),
    );
  });
}
