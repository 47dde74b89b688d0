import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { type Advanced, advanceSchema } from '../advance.ts';
import { type Faults, faultSchema } from '../aws/faults.ts';
import type { Topics } from '../aws/topics.ts';
import type { VirtualClock } from '../clock.ts';
import { answerPath, type Publication } from '../front/publish.ts';
import { type Handler, readBody, refuseBody, sendJson, targetOf } from '../http.ts';

import { issuerPath } from '../issuer/issuer.ts';
import { parseJson } from '../json.ts';
import type { Runtime } from '../runtime.ts';
import { proofPath } from '../service-record.ts';
import { paymentsPath, stripePath } from '../stripe/local-stripe.ts';
import type { LocalTemplate } from '../template.ts';
import { type Inbox, inboxPath } from './inbox.ts';
import { createMailPage, mailsPath } from './mails.ts';

/** The paths under this prefix control the service. They are never paths of the API. */
export const localPath = '/_local';

export interface ControlOptions {
  readonly inbox: Inbox;
  /** The e-mails that SNS would send. */
  readonly topics: Pick<Topics, 'mails' | 'confirm' | 'unsubscribe'>;
  readonly faults: Faults;
  readonly advance: (seconds: number) => Promise<Advanced>;
  /** Lets running invocations crash, see LocalFunctions. */
  readonly crash: (functionPart: string, match: string) => number;
  readonly state: () => unknown;
  /** Proves that this service holds its folder. */
  readonly prove: (challenge: string) => string;
  /** Takes the answers of the function that publishes pages. */
  readonly publication: Pick<Publication, 'answer'>;
  /** Answers the paths of the issuer at which people sign in. */
  readonly issuer: Handler;
  /** Answers the paths of the fake of Stripe, and of what happens there. */
  readonly stripe: Handler;
}

const maxBodyBytes = 64 * 1024;

/** Part of a function's name, and part of the JSON of the events of the invocations that crash. */
const crashSchema = z.strictObject({ function: z.string().min(1), match: z.string().default('') });

/** Serves /_local/ (clock, state, faults, crashes, inbox, e-mails, issuer and Stripe) to this machine only. */
export function createControl(options: ControlOptions): Handler {
  const mails = createMailPage(options.topics);
  const { inbox, faults, advance, crash, state, prove, publication, issuer, stripe } = options;
  const routes: Readonly<Record<string, Handler>> = {
    'POST /_local/clock': withBody(advanceSchema, async ({ advance_seconds }, outgoing) => {
      const { now, steps } = await advance(advance_seconds);
      sendJson(outgoing, 200, { now: new Date(now).toISOString(), advanced_seconds: advance_seconds, steps });
    }),
    [`PUT ${answerPath}`]: publication.answer,
    'GET /_local/state': (_incoming, outgoing) => sendJson(outgoing, 200, state()),
    [`GET ${proofPath}`]: (incoming, outgoing) => {
      const challenge = new URLSearchParams(targetOf(incoming).query).get('challenge') ?? '';
      sendJson(outgoing, 200, { proof: prove(challenge) });
    },
    'GET /_local/faults': (_incoming, outgoing) => sendJson(outgoing, 200, { data: faults.list() }),
    'POST /_local/faults': withBody(faultSchema, (fault, outgoing) => {
      faults.set(fault);
      sendJson(outgoing, 200, { data: faults.list() });
    }),
    'DELETE /_local/faults': (_incoming, outgoing) => {
      faults.clear();
      sendJson(outgoing, 200, { data: [] });
    },
    'POST /_local/crashes': withBody(crashSchema, ({ function: part, match }, outgoing) =>
      sendJson(outgoing, 200, { crashed: crash(part, match) }),
    ),
  };
  return async (incoming, outgoing) => {
    const refuse = (status: number, code: string, message: string): void =>
      refuseBody(incoming, outgoing, status, problem(code, message));
    if (!isFromThisMachine(incoming)) {
      refuse(403, 'ERR_FORBIDDEN', `${localPath} answers to this machine's own addresses only`);
      return;
    }
    const { path } = targetOf(incoming);
    if (path === inboxPath || path.startsWith(`${inboxPath}/`)) return inbox.handle(incoming, outgoing);
    if (path === mailsPath || path.startsWith(`${mailsPath}/`)) {
      mails(incoming, outgoing);
      return;
    }
    if (path.startsWith(`${issuerPath}/`)) return issuer(incoming, outgoing);
    if (path === paymentsPath || path.startsWith(`${stripePath}/`)) return stripe(incoming, outgoing);
    const route = routes[`${incoming.method ?? ''} ${path}`];
    if (route === undefined) {
      refuse(404, 'ERR_NOT_FOUND', `${incoming.method ?? ''} ${path} is not served`);
      return;
    }
    return route(incoming, outgoing);
  };
}

/** Whether the request comes from this machine, and from no web page of another origin or host name. */
function isFromThisMachine({ headers: { host, origin } }: IncomingMessage): boolean {
  return isLoopback(`http://${host ?? ''}`) && (origin === undefined || isLoopback(origin));
}

function isLoopback(address: string): boolean {
  const name = URL.parse(address)?.hostname ?? '';
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

function withBody<Schema extends z.ZodType>(
  schema: Schema,
  handle: (body: z.output<Schema>, outgoing: ServerResponse) => Promise<void> | void,
): Handler {
  return async (incoming, outgoing) => {
    const bytes = await readBody(incoming, maxBodyBytes);
    if (bytes === undefined) {
      refuseBody(incoming, outgoing, 413, problem('ERR_INVALID_REQUEST', 'the body is too large'));
      return;
    }
    const parsed = schema.safeParse(parseJson(bytes.toString('utf8')));
    if (parsed.success) return handle(parsed.data, outgoing);
    const errors = parsed.error.issues.map(({ path, code, message }) => ({
      field: path.join('.'),
      code,
      message,
    }));
    const summary = errors
      .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
      .join('; ');
    sendJson(outgoing, 400, problem('ERR_INVALID_REQUEST', summary, { errors }));
  };
}

function problem(code: string, message: string, details: Record<string, unknown> = {}): unknown {
  return { error: { code, message, details } };
}

/** The answer of GET /_local/state: the service's present state, for people and tests. */
export function describeState({
  clock,
  folder,
  template,
  environment,
  runtime,
  addresses,
}: {
  readonly clock: VirtualClock;
  readonly folder: string;
  readonly template: LocalTemplate;
  /** The values that replace the template's in the functions' environments. */
  readonly environment: Readonly<Record<string, string>>;
  readonly runtime: Pick<Runtime, 'executions' | 'functions' | 'schedule' | 'aws'>;
  readonly addresses: Readonly<Record<'apiUrl' | 'localUrl' | 'inboxUrl' | 'awsUrl', string>>;
}): Record<string, unknown> {
  const flying = countBy(runtime.functions.inFlight().map(({ functionId }) => functionId));
  return {
    now: new Date(clock.now()).toISOString(),
    offset_seconds: clock.offset() / 1_000,
    frozen: clock.isFrozen(),
    folder,
    environment,
    api: addresses.apiUrl,
    local: addresses.localUrl,
    inbox: addresses.inboxUrl,
    aws: addresses.awsUrl,
    functions: template.functions.map(({ id, timeoutSeconds }) => ({
      id,
      timeout_seconds: timeoutSeconds,
      in_flight: flying[id] ?? 0,
    })),
    executions: countBy(runtime.executions.list().map(({ status }) => status)),
    schedule: runtime.schedule
      .state()
      .map(({ name, nextAt }) => ({ name, next: new Date(nextAt).toISOString() })),
    faults: runtime.aws.faults.list(),
  };
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
