/** Ways in which the table answers one call badly, or is asked by somebody else in between. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Context } from 'aws-lambda';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable } from '../../lab/simulation/aws/simulated-table.ts';
import type { Input } from '../../lab/simulation/aws/table-request.ts';
import { AnswerLost, AwsError } from '../../local/aws/aws-error.ts';
import { gatewayEvent } from '../../local/gateway/events.ts';
import { readResponse, sendResponse } from '../../local/gateway/gateway.ts';
import { createRouter } from '../../local/gateway/router.ts';
import { listenOnLoopback, readBody } from '../../local/http.ts';
import { createIssuer } from '../../local/issuer/issuer.ts';
import { portalRoutes } from '../../lib/portal/routes.ts';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import type { ApiHandler } from '../../service/api/framed.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { requestMillis } from '../../service/contract/limits.ts';
import {
  type PortalFunction,
  type PortalOperationName,
  portalOperations,
  signInPaths,
} from '../../service/contract/operations.ts';
import { createActionLog } from '../../service/operated/action-store.ts';
import type { PortalAnswer, PortalHandle } from '../../service/portal/http/caller.ts';
import { type PortalHandlers, servePortal } from '../../service/portal/http/serve-portal.ts';
import type { PortalServices } from '../../service/portal/open.ts';
import { createMailStore } from '../../service/notices/mail-store.ts';
import { createPeopleStore } from '../../service/portal/people-store.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import type { PortalSettings } from '../../service/portal/settings.ts';
import { serveSignIn } from '../../service/portal/sign-in/handlers.ts';
import { createLoginBox } from '../../service/portal/sign-in/open.ts';
import type { SignInServices } from '../../service/portal/sign-in/open.ts';
import { createOpenid, type IdentityProvider } from '../../service/portal/sign-in/openid.ts';
import { Problem } from '../../service/values/problem.ts';
import { schema } from '../../service/values/runtime.ts';
import { startBudget } from '../../service/values/time.ts';
import { fakeLog, type FakeLog } from '../api/fakes.ts';
import { fakeTopics } from './mail-fixture.ts';
import { type Browser, openBrowser } from '../fixtures/portal.ts';
import { anAccount } from '../fixtures/records.ts';

/** A portal with whose table a test can inspect a call before it happens, let it fail, or lose its answer. */
export interface WithCalls {
  readonly calls: {
    around: (operation: string, input: Input, run: () => object) => object | Promise<object>;
  };
}

const writes = ['PutItem', 'UpdateItem', 'TransactWriteItems'];

/** Whether the call writes an item whose sort key begins so. */
function isWriteOf(sortKey: string, operation: string, input: unknown): boolean {
  return writes.includes(operation) && JSON.stringify(input).includes(`"sk":{"S":"${sortKey}`);
}

/** The next write of such an item takes effect, and its answer is lost. */
export function loseAnswerOf({ calls }: WithCalls, sortKey: string): void {
  let isLost = false;
  calls.around = (operation, input, run) => {
    const answer = run();
    if (isLost || !isWriteOf(sortKey, operation, input)) return answer;
    isLost = true;
    throw new AnswerLost();
  };
}

/** The next writes of such an item conflict with another transaction. */
export function conflictWith({ calls }: WithCalls, sortKey: string, times: number): void {
  let left = times;
  calls.around = (operation, input, run) => {
    if (left === 0 || !isWriteOf(sortKey, operation, input)) return run();
    left -= 1;
    throw new AwsError('TransactionConflictException', 'another transaction holds the item');
  };
}

/**
 * Sends the second request at the moment at which the first one has read everything and is about to write such an
 * item. Resolves with both answers.
 */
export async function inBetween<Answer>(
  { calls }: WithCalls,
  sortKey: string,
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<readonly [Answer, Answer]> {
  const other: Answer[] = [];
  calls.around = async (operation, input, run) => {
    if (!isWriteOf(sortKey, operation, input)) return run();
    calls.around = (_operation, _input, ordinary) => ordinary();
    other.push(await second());
    return run();
  };
  const one = await first();
  const [two] = other;
  if (two === undefined) throw new Error('the first request wrote no such item');
  return [one, two];
}

/**
 * The frame of the portal and its sign-in over sockets: the real functions, adapters and issuer, over a table in
 * memory. A distribution stands before them, as in AWS: it alone knows the secret of the origin.
 */
export const originSecret = 'secret of the origin';
/** The secret that was replaced last. */
export const previousOriginSecret = 'secret of the origin before';

/** A handler for tests of the frame, which reads no body of an answer. */
type AnyHandle<Name extends PortalOperationName> = (
  ...given: Parameters<PortalHandle<Name, PortalServices>>
) => Promise<PortalAnswer>;

export interface PortalStageOptions {
  readonly settings?: Partial<PortalSettings>;
  /** Replaces the local issuer. */
  readonly issuer?: string;
  /** Calls of the issuer that replace the real ones. */
  readonly identity?: Partial<IdentityProvider>;
  /** Whether this call of the table fails. */
  readonly breaks?: (operation: string, input: unknown) => boolean;
  /** Handlers that replace those which answer {ok: true}. */
  readonly handlers?: { readonly [Name in PortalOperationName]?: AnyHandle<Name> };
}

export interface PortalStage {
  readonly portalUrl: string;
  readonly table: Table;
  readonly log: FakeLog;
  readonly people: ReturnType<typeof createPeopleStore>;
  readonly access: ReturnType<typeof createPortalAccess>;
  readonly accounts: ReturnType<typeof createAccountStore>;
  readonly actions: ReturnType<typeof createActionLog>;
  /** Everything in the table as one text, to search for a text that must not be stored. */
  stored(): string;
  /** The calls that the table has answered, by their names. */
  calls(): readonly string[];
  browser(): Browser;
  /** What the distribution adds to each request. A test may change it. */
  readonly added: { secret: string | undefined; viewer: string };
  end(): Promise<void>;
}

/** The settings besides the addresses of the service. */
export const ordinarySettings = {
  ...{ emailsAreVerified: false, hasAuthTime: true, paymentUrl: null, takesPayments: true, contact: null },
  ...{ credentialsUrl: null, inboxUrl: null },
};

/** A client of Secrets Manager with one long secret. */
export const secrets = {
  send: () => Promise.resolve({ SecretString: 'x'.repeat(64), VersionId: 'v1' }),
} as unknown as SecretsManagerClient;

export async function startPortal(options: PortalStageOptions = {}): Promise<PortalStage> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  const origin = `http://127.0.0.1:${port}`;
  const portalUrl = `${origin}/portal/`;
  const memory = createSimulatedTable({ now: () => Date.now() });
  const calls: string[] = [];
  const client = createDirectClient((operation, input) => {
    calls.push(operation);
    if (options.breaks?.(operation, input) === true) throw new Error('the table broke');
    return memory.perform(operation, input);
  });
  const table: Table = { client, name: 'table', clock: systemClock, randomBytes };
  const accounts = createAccountStore(table);
  await accounts.create(anAccount());
  const people = createPeopleStore(table);
  const log = fakeLog();
  const clientSecret = 'secret of the client';
  const issuerUrl = `${origin}/_local/issuer`;
  const openid = createOpenid({
    issuer: options.issuer ?? issuerUrl,
    clientId: 'darkroom-portal',
    clientSecret: () => Promise.resolve(clientSecret),
    clock: systemClock,
  });
  const settings: PortalSettings = {
    ...ordinarySettings,
    portalUrl: new URL(portalUrl),
    apiUrl: `${origin}/api/public/v1`,
    ...options.settings,
  };
  const open = (): SignInServices => {
    const budget = startBudget(systemClock, requestMillis);
    const store = { ...table, signal: budget.signal };
    return {
      clock: systemClock,
      randomBytes,
      log,
      schema,
      budget,
      settings,
      access: createPortalAccess(store),
      actions: createActionLog(store),
      people: createPeopleStore(store),
      mailStore: createMailStore(store),
      topics: fakeTopics().topics,
      originSecrets: () => Promise.resolve([originSecret, previousOriginSecret]),
      identity: { ...openid(budget.signal), ...options.identity },
      loginBox: createLoginBox({ client: secrets, secretArn: 'arn', clock: systemClock, randomBytes }),
    };
  };
  const issuer = createIssuer({
    url: issuerUrl,
    client: { id: 'darkroom-portal', secret: clientSecret },
    redirectUri: `${origin}${signInPaths.callback}`,
    afterSignOut: portalUrl,
    people: async () => (await people.listInvitations('SERVICE')).map(({ email }) => email),
    now: () => Date.now(),
  });
  const functions: Readonly<Record<PortalFunction, ApiHandler>> = {
    'sign-in': serveSignIn(open),
    read: servePortal('read', answering(options.handlers), open, portalOperations),
    manage: servePortal('manage', answering(options.handlers), open, portalOperations),
    generate: servePortal('generate', answering(options.handlers), open, portalOperations),
    cancel: servePortal('cancel', answering(options.handlers), open, portalOperations),
    pay: servePortal('pay', answering(options.handlers), open, portalOperations),
    operate: servePortal('operate', answering(options.handlers), open, portalOperations),
  };
  const routes = portalRoutes(new Set(Object.keys(functions)));
  const find = createRouter(
    routes.map(([method, path, functionId]) => ({ routeKey: `${method} ${path}`, functionId })),
  );
  const added: PortalStage['added'] = { secret: originSecret, viewer: '203.0.113.9:4711' };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    if (path.startsWith('/_local/issuer')) {
      await issuer.handle(incoming, outgoing);
      return;
    }
    const match = find(incoming.method ?? '', path);
    if (!match) {
      outgoing.writeHead(404).end();
      return;
    }
    const body = (await readBody(incoming, 1_000_000)) ?? Buffer.alloc(0);
    const event = gatewayEvent({ incoming, body, match, requestId: randomUUID(), at: Date.now() });
    if (added.secret !== undefined) event.headers['x-origin-secret'] = added.secret;
    event.headers['cloudfront-viewer-address'] = added.viewer;
    const response = readResponse(
      await functions[match.route.functionId as PortalFunction](event, {} as Context),
    );
    if (!response) throw new Error('the function answered nothing that a gateway takes');
    sendResponse(outgoing, response, incoming.method ?? '');
  };
  server.on('request', (incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return {
    portalUrl,
    table,
    log,
    people,
    accounts,
    access: createPortalAccess(table),
    actions: createActionLog(table),
    stored: () => JSON.stringify([...memory.all()]),
    calls: () => calls,
    browser: () => openBrowser(portalUrl),
    added,
    end: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Handlers that answer 200, apart from those that the test gives. */
function answering(
  given: PortalStageOptions['handlers'] = {},
): PortalHandlers<PortalFunction, PortalServices> {
  const fallback = (): Promise<object> => Promise.resolve({ status: 200, body: { ok: true } });
  const handlers = new Proxy(given, {
    get: (target, name) => (Reflect.get(target, name) as unknown) ?? fallback,
  });
  return handlers as PortalHandlers<PortalFunction, PortalServices>;
}

/** The refusal with which the work ends. Throws when it does not end with one. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const ended: unknown = await work.then(
    () => new Error('it was not refused'),
    (error: unknown) => error,
  );
  if (ended instanceof Problem) return ended;
  throw ended;
}
