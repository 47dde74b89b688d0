/**
 * The frame around every operation of the portal, in the order in which a request passes through it: the way it
 * came, the block of the address, the session, the page that asks, the condition of the account, the role, the age
 * of the sign-in, the query, the log of actions, the operation, the answer.
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { envelopeOf, toGateway } from '../../api/answer.ts';
import { type ApiHandler, framed, inTime } from '../../api/framed.ts';
import { accountDisabled, apiSuspended } from '../../api/problems.ts';
import { parametersBeside } from '../../api/request.ts';
import {
  memberOperations,
  type PortalFunction,
  type PortalOperation,
  type PortalOperationName,
  type portalOperations,
  portalRoot,
} from '../../contract/operations.ts';
import type { OpenServices } from '../../platform/common.ts';
import { invalidRequest, Problem } from '../../values/problem.ts';
import { errorName, logWith } from '../../values/runtime.ts';
import type { PortalServices } from '../open.ts';
import { mayAct, needsFreshSignIn } from '../people.ts';
import { cookieIn, cookieNames, setCookie } from '../session.ts';
import type { PortalSettings } from '../settings.ts';
import { authenticatePerson, type PersonCaller, type PortalAnswer, type PortalHandle } from './caller.ts';
import { noted } from './note-action.ts';
import {
  foreignOrigin,
  isFromOwnPages,
  notMember,
  nothingHere,
  type PortalRequest,
  portalRequestOf,
  reauthenticate,
  roleTooLow,
} from './portal-request.ts';

export type OperationsOf<Group extends PortalFunction> = {
  [Name in PortalOperationName]: (typeof portalOperations)[Name]['function'] extends Group ? Name : never;
}[PortalOperationName];

export type PortalHandlers<Group extends PortalFunction, Services> = {
  readonly [Name in OperationsOf<Group>]: PortalHandle<Name, Services>;
};

type CheckedHandle<Services> = (
  request: PortalRequest,
  caller: PersonCaller,
  services: Services,
) => Promise<PortalAnswer>;

/** The operations that a function may serve. A bundle holds no table that it does not need. */
type PortalTable = Readonly<Partial<Record<PortalOperationName, PortalOperation>>>;

/** The Lambda handler of a function of the portal. @param open begins one request with its time */
export function servePortal<Group extends PortalFunction, Services extends PortalServices>(
  group: Group,
  handlers: PortalHandlers<Group, Services>,
  open: OpenServices<Services>,
  operations: PortalTable = memberOperations,
): ApiHandler {
  return framed(
    async (event, services) => {
      const request = await portalRequestOf(event, services);
      const answer = await answerOf(group, handlers, request, services, operations);
      return toPortalGateway(answer, request.requestId);
    },
    (problem, services, requestId) =>
      toPortalGateway(refusal(problem, [], services.settings.portalUrl), requestId),
    open,
  );
}

/** The answer to a request that came through the portal's address. For a function with more than operations. */
export async function answerOf<Group extends PortalFunction, Services extends PortalServices>(
  group: Group,
  handlers: PortalHandlers<Group, Services>,
  sent: PortalRequest,
  services: Services,
  operations: PortalTable = memberOperations,
): Promise<PortalAnswer> {
  const found = operationAt(sent, group, operations);
  if (!found) throw nothingHere();
  const { name, operation, pathId } = found;
  const request = { ...sent, pathId };
  // The types of the handlers say what the checks below establish: a member, where the role is one of an account.
  const handle = (handlers as Readonly<Record<string, unknown>>)[name] as CheckedHandle<Services>;
  try {
    const caller = await authenticatePerson(request, services);
    check(operation, caller, request, services.settings);
    const ids = { requestId: request.requestId, accountId: caller.account?.id, personId: caller.person.id };
    const named = logWith<Services>(services, ids);
    const run = (): Promise<PortalAnswer> =>
      noted(name, operation, request.pathId, caller, named, () => handle(request, caller, named));
    const [answer] = await inTime(Promise.allSettled([run(), touch(caller, named)]), services);
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  } catch (error) {
    if (isSessionProblem(error)) return refusal(error, request.cookies, services.settings.portalUrl);
    throw error;
  }
}

interface Found {
  readonly name: PortalOperationName;
  readonly operation: PortalOperation;
  readonly pathId: string;
}

/** The gateway has one route for many paths, or for all methods of a path (lib/portal/routes.ts). */
function operationAt(
  { routeKey, method, proxy, pathId }: PortalRequest,
  group: PortalFunction,
  operations: PortalTable,
): Found | undefined {
  const isProxy = routeKey.endsWith(` ${portalRoot}/{proxy+}`);
  for (const [name, operation] of Object.entries(operations) as [PortalOperationName, PortalOperation][]) {
    if (operation.function !== group || operation.method !== method) continue;
    if (routeKey.endsWith(` ${portalRoot}${operation.path}`)) return { name, operation, pathId };
    const id = isProxy ? idIn(`/${proxy ?? ''}`, operation.path) : undefined;
    if (id !== undefined) return { name, operation, pathId: id };
  }
  return undefined;
}

/** The part of the path at {id}; '' when the pattern has none. Undefined: the path is another one. */
function idIn(path: string, pattern: string): string | undefined {
  const [before = '', after] = pattern.split('{id}');
  if (after === undefined) return path === pattern ? '' : undefined;
  const id = path.slice(before.length, path.length - after.length);
  const isHere = path.startsWith(before) && path.endsWith(after) && id !== '' && !id.includes('/');
  return isHere ? id : undefined;
}

/** Throws the first reason for which this caller may not do this now. */
function check(
  operation: PortalOperation,
  caller: PersonCaller,
  request: PortalRequest,
  { portalUrl }: PortalSettings,
): void {
  if (!isFromOwnPages(request, portalUrl)) throw foreignOrigin();
  checkRole(operation, caller);
  if (needsFreshSignIn(operation, caller.session, caller.nowMillis)) throw reauthenticate();
  const unknown = parametersBeside(operation.query, request);
  if (unknown.length > 0) throw invalidRequest(unknown);
}

function checkRole({ role, function: group, isForFinance }: PortalOperation, caller: PersonCaller): void {
  switch (role) {
    case 'person':
      return;
    case 'operator':
      if (!caller.isOperator) throw roleTooLow();
      return;
    case 'viewer':
    case 'developer':
    case 'owner':
      if (!caller.member || !caller.account) throw notMember();
      if (caller.account.condition === 'disabled') throw accountDisabled();
      if (caller.account.condition === 'suspended' && group === 'generate') throw apiSuspended();
      if (!mayAct(caller.member.role, role, isForFinance)) throw roleTooLow();
  }
}

async function touch({ session, nowMillis }: PersonCaller, { access, log }: PortalServices): Promise<void> {
  if (nowMillis - session.lastSeenAt < 60_000) return;
  await access.touch(session.hash, nowMillis).catch((error: unknown) => {
    // This is no reason to refuse an answer: the next request notes it.
    log.info('session_use_not_noted', { error: errorName(error) });
  });
}

function isSessionProblem(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'ERR_SESSION_REQUIRED';
}

/** A refusal. A cookie without a session is removed, so that the browser does not send it again. */
export function refusal(problem: Problem, cookies: readonly string[], portalUrl: URL): PortalAnswer {
  const { session } = cookieNames(portalUrl);
  const isLeft = problem.status === 401 && cookieIn(cookies, session) !== undefined;
  return {
    status: problem.status,
    headers: problem.headers,
    body: envelopeOf(problem),
    ...(isLeft && { cookies: [setCookie(portalUrl, session, '', 0)] }),
  };
}

export function toPortalGateway(answer: PortalAnswer, requestId: string): APIGatewayProxyStructuredResultV2 {
  const { text, cookies } = answer;
  return {
    ...toGateway(answer, requestId),
    ...(text !== undefined && { body: text }),
    ...(cookies && { cookies: [...cookies] }),
  };
}
