/** Accounts in the pages of the operator: listed, opened, shown, changed, topped up, and invited to. */
import * as z from 'zod/mini';
import { type Account, conditions } from '../../accounts/account.ts';
import type { PortalOperationName } from '../../contract/operations.ts';
import type { OperatedAccount, PageView } from '../../contract/portal-views.ts';
import { movementWords, openAccount as open, setCreditLine, topUp } from '../../operated/accounts.ts';
import { type AccountId, parseAccountId } from '../../values/ids.ts';
import { asMicros, formatUsd, largestAvailableMicros, toUsd } from '../../values/money.ts';
import { invalidRequest, Problem } from '../../values/problem.ts';
import type { Action } from '../../operated/action-store.ts';
import { limitsBody, microsOf, parseBody, shownText, usd, version } from '../../operated/body.ts';
import { access, accessError, accessMinutes, choiceBy } from '../../operated/results.ts';
import type { PersonCaller } from '../http/caller.ts';
import { invite } from '../http/invite.ts';
import { changedMeanwhile } from '../http/portal-request.ts';
import { cursorWords, fromCursor, parametersOf, toCursor } from '../../operated/parameters.ts';
import { accountNotFound } from '../account-not-found.ts';
import { accountVersion } from '../people.ts';
import type { OperateHandle, OperateServices } from './open.ts';

function operatedView(
  account: Account,
  { resultAccess }: Pick<OperateServices, 'resultAccess'>,
): OperatedAccount {
  const { limits, availableMicros, creditLineMicros } = account;
  return {
    id: account.id,
    name: account.name,
    condition: account.condition,
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
    in_flight: account.inFlight,
    limits: {
      post_rate: limits.postRate,
      get_rate: limits.getRate,
      user_post_rate: limits.userPostRate,
      user_get_rate: limits.userGetRate,
      max_concurrent: limits.maxConcurrent,
      deadline_seconds: limits.deadlineSeconds,
      max_unused_uploads: limits.maxUnusedUploads,
    },
    webhook_failures: account.webhookFailures ?? (account.noticeUrl === undefined ? null : 0),
    results: account.results ?? null,
    results_minutes: account.resultsMinutes ?? null,
    results_of_service: resultAccess,
    created_at: account.createdAt,
    version: accountVersion(account),
  };
}

/** The account that the path names. Throws 404. */
async function readOperated(
  pathId: string,
  { accounts }: Pick<OperateServices, 'accounts'>,
): Promise<Account> {
  const id = parseAccountId(pathId);
  const account = id && (await accounts.read(id));
  if (!account) throw accountNotFound();
  return account;
}

/** Notes in the account's own log what the operator does to it, before the work begins. */
async function inAccountLog<Result>(
  accountId: AccountId,
  operation: { readonly name: PortalOperationName; readonly note: string },
  { person }: PersonCaller,
  { actions, clock, randomBytes }: Pick<OperateServices, 'actions' | 'clock' | 'randomBytes'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const at = new Date(clock.now()).toISOString();
  const action: Action = {
    scope: accountId,
    id: `${at}#${Buffer.from(randomBytes(6)).toString('base64url')}`,
    at,
    personId: person.id,
    email: 'the operator',
    action: operation.name,
    outcome: 'begun',
    note: operation.note,
  };
  await actions.begin(action);
  try {
    const result = await work();
    await actions.end(action, { outcome: 'done' });
    return result;
  } catch (error) {
    if (error instanceof Problem && error.status < 500)
      await actions.end(action, { outcome: 'refused', note: error.code });
    throw error;
  }
}

const limits = limitsBody({
  post_rate: 'postRate',
  get_rate: 'getRate',
  user_post_rate: 'userPostRate',
  user_get_rate: 'userGetRate',
  max_concurrent: 'maxConcurrent',
  deadline_seconds: 'deadlineSeconds',
  max_unused_uploads: 'maxUnusedUploads',
});

const creditLine = z.optional(usd('zero'));

const newAccountSchema = z.strictObject({
  name: shownText('name'),
  balance: z.optional(usd('zero')),
  credit_line: creditLine,
  limits: limits.schema,
});

const accountChangeSchema = z.strictObject({
  name: z.optional(shownText('name')),
  credit_line: creditLine,
  condition: z.optional(z.enum(conditions)),
  limits: limits.schema,
  results: z.optional(z.nullable(access)),
  results_minutes: z.optional(z.nullable(accessMinutes)),
  /** Absent: the change holds whatever the account has become. */
  version: z.optional(version),
});

/**
 * PATCH /operator/accounts/{id}: changes what the body names, from the account's next request on. The credit line
 * comes last, because its write can be refused by itself. A repetition changes nothing more. With a version, nothing
 * that somebody else changed meanwhile is changed.
 */
export const changeAccount: OperateHandle<'changeAccount'> = async (request, caller, services) => {
  const body = parseBody(request, accountChangeSchema, (given) => [
    Object.keys(given).every((one) => one === 'version')
      ? { field: 'body', code: 'required', message: 'must name something to change' }
      : undefined,
    accessError(given.results, services.resultAccess),
  ]);
  const account = await readOperated(request.pathId, services);
  if (body.version !== undefined && body.version !== accountVersion(account)) throw changedMeanwhile();
  const { name, condition } = body;
  const change = {
    ...limits.read(body.limits),
    ...(name !== undefined && { name }),
    ...(condition !== undefined && { condition }),
    ...choiceBy(body),
  };
  const note = [
    ...(condition === undefined ? [] : [condition]),
    ...(name === undefined ? [] : ['name']),
    ...(body.limits === undefined ? [] : ['limits']),
    ...('results' in body || 'results_minutes' in body ? ['addresses of pictures'] : []),
    ...(body.credit_line === undefined ? [] : [`credit line ${formatUsd(microsOf(body.credit_line))}`]),
  ].join(', ');
  await inAccountLog(account.id, { name: 'changeAccount', note }, caller, services, async () => {
    if (Object.keys(change).length > 0) {
      if (body.version === undefined) await services.accounts.change(account.id, change);
      else if (!(await services.accounts.changeAsRead(account, change))) throw changedMeanwhile();
    }
    if (body.credit_line === undefined) return;
    const outcome = await setCreditLine(account, microsOf(body.credit_line), services);
    if (outcome === 'changed_meanwhile') throw creditLineChanged();
    if (outcome !== 'changed') throw tooMuch();
  });
  return {
    status: 200,
    body: operatedView(await readOperated(account.id, services), services),
    logged: { note },
  };
};

function creditLineChanged(): Problem {
  const message = 'Somebody changed the credit line meanwhile. All else was changed: look again.';
  return new Problem('ERR_CONFLICT', message, { reason: 'changed_meanwhile' });
}

function tooMuch(): Problem {
  const message = `with the balance at most ${formatUsd(largestAvailableMicros)}`;
  return invalidRequest([{ field: 'credit_line', code: 'too_big', message }]);
}

/** POST /operator/accounts/{id}/people: usually the first owner of a new account. */
export const inviteToAccount: OperateHandle<'inviteToAccount'> = async (request, caller, services) => {
  const { id } = await readOperated(request.pathId, services);
  const operation = { name: 'inviteToAccount', note: 'an invitation' } as const;
  const answer = await inAccountLog(id, operation, caller, services, () =>
    invite(request, id, 'operator', services),
  );
  // The row names the account by the path.
  const { note } = answer.logged ?? {};
  return { ...answer, ...(note !== undefined && { logged: { note } }) };
};

export const listAccounts: OperateHandle<'listAccounts'> = async (request, _caller, services) => {
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const after = parameters.read('cursor', positionIn, cursorWords);
  parameters.check();
  const page = await services.operated.accounts(limit, after);
  const view: PageView<OperatedAccount> = {
    data: page.accounts.map((one) => operatedView(one, services)),
    next_cursor: page.after === undefined ? null : toCursor(page.after),
  };
  return { status: 200, body: view };
};

function positionIn(text: string): string | undefined {
  const place = fromCursor(text);
  return typeof place === 'string' && /^[\dT:.Z-]{24}#[0-9A-Za-z]{10}$/.test(place) ? place : undefined;
}

/** POST /operator/accounts. A repetition opens another account, so read the list after a lost answer. */
export const openAccount: OperateHandle<'openAccount'> = async (request, caller, services) => {
  const body = parseBody(request, newAccountSchema);
  const outcome = await open(
    {
      name: body.name,
      limits: { ...services.defaultLimits, ...limits.read(body.limits) },
      balanceMicros: body.balance === undefined ? asMicros(0) : microsOf(body.balance),
      creditLineMicros: body.credit_line === undefined ? asMicros(0) : microsOf(body.credit_line),
    },
    services,
  );
  switch (outcome.kind) {
    case 'opened': {
      const { id } = outcome.account;
      const note = `opened with ${formatUsd(microsOf(body.balance ?? 0))}`;
      const view = await inAccountLog(id, { name: 'openAccount', note }, caller, services, () =>
        Promise.resolve(operatedView(outcome.account, services)),
      );
      return { status: 201, body: view, logged: { target: id, note: body.name } };
    }
    case 'out_of_range': {
      const message = `with the credit line at most ${formatUsd(largestAvailableMicros)}`;
      throw invalidRequest([{ field: 'balance', code: 'too_big', message }]);
    }
    case 'id_taken':
      throw new Error('the id drawn for the account is taken');
  }
};

export const showAccount: OperateHandle<'showAccount'> = async ({ pathId }, _caller, services) => ({
  status: 200,
  body: operatedView(await readOperated(pathId, services), services),
});

const topUpSchema = z.strictObject({ amount: usd('above zero'), reference: shownText('reference') });

/** POST /operator/accounts/{id}/top-up: a reference counts once, so a repetition is safe. */
export const topUpAccount: OperateHandle<'topUpAccount'> = async (request, caller, services) => {
  const body = parseBody(request, topUpSchema);
  const account = await readOperated(request.pathId, services);
  const amount = microsOf(body.amount);
  const note = `${formatUsd(amount)}: ${body.reference}`;
  const isNew = await inAccountLog(account.id, { name: 'topUpAccount', note }, caller, services, async () => {
    const outcome = await topUp(account.id, amount, body.reference, services);
    switch (outcome.kind) {
      case 'applied':
      case 'already_applied':
        return outcome.kind === 'applied';
      case 'reference_taken': {
        const { kind, amountMicros } = outcome.by;
        const message = `The reference stands for ${movementWords[kind]} of ${formatUsd(amountMicros)}. Nothing was changed: use another reference.`;
        const details = { reason: 'reference_taken', kind, amount: toUsd(amountMicros) };
        throw new Problem('ERR_CONFLICT', message, details);
      }
      case 'below_zero':
      case 'refused_beside':
      case 'out_of_range': {
        const message = `what an account can spend is at most ${formatUsd(largestAvailableMicros)}`;
        throw invalidRequest([{ field: 'amount', code: 'too_big', message }]);
      }
    }
  });
  return {
    status: 200,
    body: { ...operatedView(await readOperated(account.id, services), services), already_applied: !isNew },
    logged: { note: isNew ? note : `${note} (was applied before)` },
  };
};
