/**
 * The frame around every operation of the operator API, in the order in which a request passes through it: the block of
 * the address, the key, the networks of the key, the rate, the log of actions, the scope, the path, the body, the
 * replay, the operation.
 */
import { createHash } from 'node:crypto';
import { hourOf } from '../accounts/account.ts';
import { type ApiAnswer, envelopeOf, toGateway, withHeaders } from '../api/answer.ts';
import { type ApiHandler, framed, inTime, problemOf } from '../api/framed.ts';
import { addressBlocked, keyInvalid, rateExceeded, unknownRoute } from '../api/problems.ts';
import { type ApiRequest, parametersBeside, requestOf } from '../api/request.ts';
import { rateWindowSeconds } from '../contract/limits.ts';
import { methodsOf } from '../contract/operations.ts';
import {
  type OperatorOperation,
  type OperatorOperationName,
  operatorOperations,
  operatorRoot,
} from '../contract/operator-operations.ts';
import { clientAddress } from '../outbound/client-address.ts';
import type { OpenServices } from '../platform/common.ts';
import type { AccountId } from '../values/ids.ts';
import { invalidRequest, type Problem } from '../values/problem.ts';
import { errorName, logWith } from '../values/runtime.ts';
import { sameHash } from '../values/text.ts';
import {
  addressNotAllowed,
  idempotencyHashOf,
  operatorKeyMissing,
  type OperatorContext,
  type OperatorHandler,
  Repeated,
  repeatedBy,
  scopeMissing,
} from './context.ts';
import { type Journal, journalOf, reasonOf } from './journal.ts';
import {
  mayComeFrom,
  type OperatorKey,
  operatorKeyPrefix,
  parseOperatorKey,
  rateOf,
} from '../operated/operator-key.ts';
import type { OperatorState } from '../operated/operator-key-store.ts';
import type { OperatorServices } from './open.ts';

export type OperatorHandlers = Readonly<Record<OperatorOperationName, OperatorHandler>>;

type Rate = 'get' | 'post';

interface Known {
  readonly key: OperatorKey;
  readonly state: OperatorState;
  readonly nowMillis: number;
  readonly rate: Rate;
}

interface Route {
  readonly name: OperatorOperationName;
  readonly operation: OperatorOperation;
  readonly params: Readonly<Record<string, string>>;
}

export function serveOperator(handlers: OperatorHandlers, open: OpenServices<OperatorServices>): ApiHandler {
  return framed(
    async (event, services) => {
      const request = requestOf(event);
      const known = await authenticate(request, services);
      const named = logWith(services, { requestId: request.requestId, operatorKey: known.key.id });
      const answer = await inTime(admitted(handlers, request, known, named), services);
      return toGateway(answer, request.requestId);
    },
    (problem, _services, requestId) => toGateway(refusal(problem), requestId),
    open,
  );
}

function refusal(problem: Problem): ApiAnswer {
  const { status, headers } = problem;
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  return { status, headers: { ...headers, ...challenge }, body: envelopeOf(problem) };
}

/** Throws 429 for a blocked address, and 401 without a key that works. */
async function authenticate(request: ApiRequest, services: OperatorServices): Promise<Known> {
  const { requests, operatorKeys, clock } = services;
  const presented = /^bearer\s+(\S+)$/i.exec(request.headers['authorization']?.trim() ?? '')?.[1];
  const parsed = presented === undefined ? undefined : parseOperatorKey(presented);
  const nowMillis = clock.now();
  const rate = request.method === 'GET' ? 'get' : 'post';
  const address = clientAddress(request.sourceIp);
  const { idempotencyKey } = request;
  const state = await operatorKeys.question({
    clientAddress: address,
    keyId: parsed?.id,
    rate,
    idempotencyHash:
      request.method === 'POST' && idempotencyKey.kind === 'valid' ? idempotencyKey.hash : undefined,
    nowMillis,
  });
  const { block, key } = state;
  if (block?.scope === 'all') throw addressBlocked(block.untilMillis - nowMillis);
  const reject = async (problem: Problem, kind: 'keyless' | '401'): Promise<never> => {
    if (presented?.startsWith(operatorKeyPrefix) === true)
      services.log.info('operator_key_refused', { operatorKey: parsed?.id, why: problem.message });
    await requests.countRejection(address, kind, nowMillis);
    throw problem;
  };
  if (presented === undefined) {
    // Any page of the web can make its visitor's browser send requests, but none with a key.
    if (request.headers['sec-fetch-site'] === 'cross-site') throw operatorKeyMissing();
    return reject(operatorKeyMissing(), 'keyless');
  }
  if (!parsed || !key || !sameHash(parsed.hash, key.hash))
    return reject(keyInvalid('is not recognised'), '401');
  if (key.revokedAt !== undefined) return reject(keyInvalid('was revoked'), '401');
  if (Date.parse(key.expiresAt) <= nowMillis) return reject(keyInvalid('has expired'), '401');
  return { key, state, nowMillis, rate };
}

/** The answer with the headers of the key's rate. It never throws. */
async function admitted(
  handlers: OperatorHandlers,
  request: ApiRequest,
  known: Known,
  services: OperatorServices,
): Promise<ApiAnswer> {
  const { key, state, nowMillis, rate } = known;
  const limit = rateOf(key, rate);
  const endsIn = rateWindowSeconds - (Math.floor(nowMillis / 1000) % rateWindowSeconds);
  const route = routeOf(request);
  const journal = journalOf(request, route, key, services);
  /** Absent: the rate was not asked. */
  let left: number | undefined;
  const answerWith = (answer: ApiAnswer): ApiAnswer =>
    left === undefined
      ? answer
      : withHeaders(answer, {
          'ratelimit-policy': `"${rate}";q=${limit};w=${rateWindowSeconds}`,
          ratelimit: `"${rate}";r=${Math.max(0, left)};t=${endsIn}`,
        });
  try {
    if (!mayComeFrom(key, request.sourceIp)) throw await journal.refused(addressNotAllowed());
    left = limit - state.rateCount - 1;
    if (left < 0 || !(await services.operatorKeys.countRequest(key.id, rate, limit, nowMillis))) {
      left = 0;
      throw await journal.refused(rateExceeded(rate, limit, endsIn, 'key'));
    }
    await noteUse(known, services);
    if (!route) {
      const { method, path } = request;
      const allowed = methodsOf(path, operatorRoot, operatorOperations);
      throw await journal.refused(unknownRoute(method, path, allowed, operatorRoot));
    }
    return answerWith(await routed(handlers, { route, request, known, services }, journal));
  } catch (error) {
    return answerWith(refusal(problemOf(error, request.requestId, services)));
  }
}

async function noteUse({ key, nowMillis }: Known, { operatorKeys, log }: OperatorServices): Promise<void> {
  const hour = hourOf(nowMillis);
  if (key.lastUsedAt === hour) return;
  await operatorKeys.noteUse(key.id, hour).catch((error: unknown) => {
    // This is no reason to refuse an answer: the next request notes the use.
    log.info('key_use_not_noted', { error: errorName(error) });
  });
}

function routeOf({ method, path }: ApiRequest): Route | undefined {
  const steps = path.split('/');
  for (const [name, operation] of Object.entries<OperatorOperation>(operatorOperations)) {
    const pattern = `${operatorRoot}${operation.path}`.split('/');
    if (operation.method !== method || pattern.length !== steps.length) continue;
    const params: Record<string, string> = {};
    const isSame = pattern.every((step, index) => {
      const given = steps[index] ?? '';
      if (!step.startsWith('{')) return step === given;
      params[step.slice(1, -1)] = given;
      return given !== '';
    });
    if (isSame) return { name: name as OperatorOperationName, operation, params };
  }
  return undefined;
}

/** Runs the operation. Every request that is no GET leaves a row in the log before it begins, and how it ended. */
async function routed(handlers: OperatorHandlers, asked: Asked, journal: Journal): Promise<ApiAnswer> {
  await journal.begin('SERVICE');
  try {
    const answer = await operated(handlers[asked.route.name], asked, (scope, note) =>
      journal.begin(scope, note),
    );
    await journal.end({ outcome: 'done' });
    return answer;
  } catch (error) {
    const problem = problemOf(error, asked.request.requestId, asked.services);
    // A refusal changed nothing. After any other error the outcome is unknown.
    if (problem.status < 500) await journal.end({ outcome: 'refused', note: reasonOf(problem) });
    throw problem;
  }
}

interface Asked {
  readonly route: Route;
  readonly request: ApiRequest;
  readonly known: Known;
  readonly services: OperatorServices;
}

async function operated(
  handler: OperatorHandler,
  { route, request, known, services }: Asked,
  noteIn: (account: AccountId, note: string) => Promise<void>,
): Promise<ApiAnswer> {
  const { key, nowMillis } = known;
  const require: OperatorContext['require'] = (scope) => {
    if (!key.scopes.includes(scope)) throw scopeMissing(scope);
  };
  require(route.operation.scope);
  const unknown = parametersBeside(route.operation.query, request);
  if (unknown.length > 0) throw invalidRequest(unknown);
  const hash = idempotencyHashOf(request);
  let requestHash = '';
  const context: OperatorContext = {
    request,
    params: route.params,
    key,
    nowMillis,
    services,
    require,
    noteIn,
    remembers: (made, status) =>
      hash === undefined
        ? []
        : [services.operatorKeys.remembers(key.id, hash, { requestHash, made, status }, nowMillis)],
    throwIfRepeated: async () => {
      const remembered =
        hash === undefined ? undefined : await services.operatorKeys.remembered(key.id, hash);
      if (remembered && remembered.expiresAt > nowMillis) throw repeatedBy(remembered, requestHash);
    },
  };
  const body = await handler.body?.(context);
  requestHash = createHash('sha256')
    .update(JSON.stringify([request.path, body]))
    .digest('hex');
  try {
    if (known.state.remembered) throw repeatedBy(known.state.remembered, requestHash);
    return await handler.run(body, context);
  } catch (error) {
    if (!(error instanceof Repeated) || !handler.show) throw error;
    const { made, status } = error.remembered;
    return { status, headers: { 'idempotent-replayed': 'true' }, body: await handler.show(made, context) };
  }
}
