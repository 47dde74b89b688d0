/** Accounts in the operator API: listed, opened, shown and changed. */
import * as z from 'zod/mini';
import { type Account, conditions } from '../accounts/account.ts';
import { resultsIn, versionOf } from '../accounts/version.ts';
import { providers as builtIn } from '../catalog/providers.ts';
import { checkAfterCommand } from '../notices/check-thresholds.ts';
import { accountToOpen, setCreditLine } from '../operated/accounts.ts';
import { limitsBody, microsOf, parseBody, shownText, usd, version } from '../operated/body.ts';
import { choiceOf, cursorWords, fromCursor, oneOf, parametersOf, toCursor } from '../operated/parameters.ts';
import { access, accessError, accessMinutes, choiceBy } from '../operated/results.ts';
import { Overloaded } from '../values/errors.ts';
import type { ResultAccess } from '../contract/limits.ts';
import { type AccountId, parseAccountId } from '../values/ids.ts';
import { asMicros, formatUsd, largestAvailableMicros, toUsd } from '../values/money.ts';
import { type FieldError, type FieldErrorCode, invalidRequest } from '../values/problem.ts';
import { isPrintable } from '../values/text.ts';
import {
  accountOf,
  changedMeanwhile,
  changing,
  conflict,
  creditRefused,
  notFound,
  type OperatorContext,
  pageOf,
  reading,
} from './context.ts';

const limits = limitsBody({
  post_rate: 'postRate',
  get_rate: 'getRate',
  user_post_rate: 'userPostRate',
  user_get_rate: 'userGetRate',
  max_concurrent: 'maxConcurrent',
  deadline: 'deadlineSeconds',
  max_unused_uploads: 'maxUnusedUploads',
});

function accountView(account: Account) {
  const { limits: own, availableMicros, creditLineMicros, policy } = account;
  return {
    id: account.id,
    external_id: account.externalId ?? null,
    name: account.name,
    condition: account.condition,
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
    in_flight: account.inFlight,
    limits: {
      post_rate: own.postRate,
      get_rate: own.getRate,
      user_post_rate: own.userPostRate,
      user_get_rate: own.userGetRate,
      max_concurrent: own.maxConcurrent,
      deadline: own.deadlineSeconds,
      max_unused_uploads: own.maxUnusedUploads,
    },
    providers: policy.providers,
    hidden_models: policy.hiddenModels,
    webhook_secret_issued: account.webhookSecrets.length > 0,
    notice_url: account.noticeUrl ?? null,
    low_balance: account.lowBalanceMicros === undefined ? null : toUsd(account.lowBalanceMicros),
    results: account.results ?? null,
    results_minutes: account.resultsMinutes ?? null,
    created_at: account.createdAt,
    version: accountVersion(account),
  };
}

/** Of everything that the operator API changes of an account. */
function accountVersion(account: Account): string {
  const {
    name,
    condition,
    creditLineMicros,
    limits: own,
    policy,
    externalId,
    noticeUrl,
    lowBalanceMicros,
  } = account;
  return versionOf([
    ...[name, condition, creditLineMicros, externalId, noticeUrl, lowBalanceMicros],
    ...[own.postRate, own.getRate, own.maxConcurrent, own.deadlineSeconds, own.maxUnusedUploads],
    ...[own.userPostRate, own.userGetRate],
    ...[policy.providers, policy.hiddenModels],
    ...resultsIn(account),
  ]);
}

const externalId = z.string().check(
  z.minLength(1),
  z.maxLength(64),
  z.refine((text) => text.trim() !== '' && isPrintable(text), {
    error: 'must not be blank or contain control characters',
    params: { code: 'invalid_value' },
  }),
);
const names = z.array(z.string()).check(z.maxLength(100));
const providers = z.union([z.literal('all'), names]);
const noticeUrl = z.string();
const lowBalance = usd('above zero');

const newAccountSchema = z.strictObject({
  name: shownText('name'),
  external_id: z.optional(externalId),
  opening_balance: z.optional(usd('zero')),
  credit_line: z.optional(usd('zero')),
  limits: limits.schema,
  providers: z.optional(providers),
  hidden_models: z.optional(names),
  notice_url: z.optional(noticeUrl),
  low_balance: z.optional(lowBalance),
  results: z.optional(access),
  results_minutes: z.optional(accessMinutes),
});

const accountChangeSchema = z.strictObject({
  name: z.optional(shownText('name')),
  external_id: z.optional(z.nullable(externalId)),
  condition: z.optional(z.enum(conditions)),
  credit_line: z.optional(usd('zero')),
  limits: limits.schema,
  providers: z.optional(providers),
  hidden_models: z.optional(names),
  notice_url: z.optional(z.nullable(noticeUrl)),
  low_balance: z.optional(z.nullable(lowBalance)),
  results: z.optional(z.nullable(access)),
  results_minutes: z.optional(z.nullable(accessMinutes)),
  version: z.optional(version),
});

interface OfCatalog {
  readonly providers?: 'all' | readonly string[] | undefined;
  readonly hidden_models?: readonly string[] | undefined;
  readonly notice_url?: string | null | undefined;
  readonly results?: ResultAccess | null | undefined;
}

/** What only this service finds wrong, by its catalog, its settings and its rules for addresses. Throws 400. */
async function checkNames(body: OfCatalog, { services }: OperatorContext): Promise<void> {
  const listed = body.providers === 'all' ? [] : (body.providers ?? []);
  const hidden = body.hidden_models ?? [];
  const errors: FieldError[] = [];
  if (listed.length > 0 || hidden.length > 0) {
    const { models } = await services.catalogs.latest();
    const routes = models.flatMap((model) => model.routes.map(({ provider }) => provider));
    const known = new Set([...Object.keys(builtIn), ...routes]);
    const wrong = (field: string, code: FieldErrorCode, message: string): void =>
      void errors.push({ field, code, message });
    for (const [index, name] of listed.entries())
      if (!known.has(name))
        wrong(`providers[${index}]`, 'unknown_provider', 'is no provider of this service');
    for (const [index, id] of hidden.entries())
      if (!models.some((model) => model.id === id))
        wrong(`hidden_models[${index}]`, 'unknown_model', 'is no model of this service');
  }
  if (typeof body.notice_url === 'string') {
    const verdict = await services.outbound.check(body.notice_url);
    if (verdict.kind === 'refused')
      errors.push({ field: 'notice_url', code: 'refused_target', message: verdict.why });
  }
  const refused = accessError(body.results, services.resultAccess);
  if (refused) errors.push(refused);
  if (errors.length > 0) throw invalidRequest(errors);
}

function policyOf({ providers: listed = 'all', hidden_models: hidden = [] }: OfCatalog): Account['policy'] {
  return { providers: listed === 'all' ? listed : [...new Set(listed)], hiddenModels: [...new Set(hidden)] };
}

function externalIdTaken(account: AccountId | undefined): Error {
  const message = 'Another account has this external id.';
  return conflict('external_id_taken', message, { account: account ?? null });
}

function tooMuch(field: string): Error {
  const message = `what an account can spend is at most ${formatUsd(largestAvailableMicros)}`;
  return invalidRequest([{ field, code: 'out_of_range', message }]);
}

/** POST /accounts: the account, its name of the operator, its money and the Idempotency-Key in one transaction. */
export const openAccount = changing({
  body: async (context) => {
    const body = parseBody(context.request, newAccountSchema);
    if ((body.opening_balance ?? 0) > 0) context.require('wallet:credit');
    if ((body.credit_line ?? 0) > 0) context.require('wallet:adjust');
    await checkNames(body, context);
    return body;
  },
  run: async (body, context) => {
    const { services, key, nowMillis } = context;
    const balanceMicros = microsOf(body.opening_balance ?? 0);
    const creditLineMicros = microsOf(body.credit_line ?? 0);
    const account = accountToOpen(
      {
        name: body.name,
        limits: { ...services.defaultLimits, ...limits.read(body.limits) },
        balanceMicros,
        creditLineMicros,
        policy: policyOf(body),
        openedBy: key.id,
        ...(body.external_id !== undefined && { externalId: body.external_id }),
        ...(body.notice_url !== undefined && { noticeUrl: body.notice_url }),
        ...(body.low_balance !== undefined && { lowBalanceMicros: microsOf(body.low_balance) }),
        ...(body.results !== undefined && { results: body.results }),
        ...(body.results_minutes !== undefined && { resultsMinutes: body.results_minutes }),
      },
      services,
    );
    if (account === 'out_of_range') throw tooMuch('opening_balance');
    const credited = asMicros(balanceMicros + creditLineMicros);
    const beside = [
      ...(account.externalId === undefined ? [] : [services.edits.toName(account.externalId, account.id)]),
      ...(credited > 0 ? [services.operatorKeys.credits(key, credited, nowMillis)] : []),
      ...context.remembers(account.id, 201),
    ];
    if ((await services.wallet.open(account, beside)) === 'refused') {
      await context.throwIfRepeated();
      const named =
        account.externalId === undefined ? undefined : await services.edits.named(account.externalId);
      if (named !== undefined) throw externalIdTaken(named);
      throw credited > 0
        ? await creditRefused(credited, context)
        : new Overloaded('the account was not stored');
    }
    await context.noteIn(account.id, `opened with ${formatUsd(balanceMicros)}`);
    await checkAfterCommand({ accountId: account.id, periods: {} }, services);
    return { status: 201, body: accountView(account) };
  },
  show: async (made, { services }) => {
    const id = parseAccountId(made);
    const account = id && (await services.accounts.read(id));
    if (!account) throw notFound();
    return accountView(account);
  },
});

export const getAccount = reading(async (context) => ({
  status: 200,
  body: accountView(await accountOf(context)),
}));

function positionIn(text: string): string | undefined {
  const place = fromCursor(text);
  return typeof place === 'string' && /^[\dT:.Z-]{24}#[0-9A-Za-z]{10}$/.test(place) ? place : undefined;
}

/** GET /accounts: the oldest first. A page of a condition may have fewer accounts than its limit. */
export const listAccounts = reading(async ({ request, services }) => {
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const after = parameters.read('cursor', positionIn, cursorWords);
  const condition = parameters.read('condition', oneOf(conditions), choiceOf(conditions));
  const external = parameters.read(
    'external_id',
    (text) => (text === '' ? undefined : text),
    'must not be empty',
  );
  parameters.check();
  const isShown = (account: Account): boolean => condition === undefined || account.condition === condition;
  if (external !== undefined) {
    const id = await services.edits.named(external);
    const account = id && (await services.accounts.read(id));
    return pageOf(account && isShown(account) ? [account] : [], limit, accountView, ({ id: own }) => own);
  }
  const page = await services.operated.accounts(limit, after);
  return {
    status: 200,
    body: {
      data: page.accounts.filter(isShown).map(accountView),
      has_more: page.after !== undefined,
      next_cursor: page.after === undefined ? null : toCursor(page.after),
    },
  };
});

type Change = z.infer<typeof accountChangeSchema>;

/** The changed attributes of the item, and all of them as they were read. null removes an attribute. */
function editOf(
  body: Change,
  account: Account,
): { edit: Record<string, unknown>; asRead: Record<string, unknown> } {
  const { policy } = account;
  const asRead = {
    name: account.name,
    ...account.limits,
    providers: policy.providers === 'all' ? undefined : policy.providers,
    hiddenModels: policy.hiddenModels,
    noticeUrl: account.noticeUrl,
    lowBalanceMicros: account.lowBalanceMicros,
    results: account.results,
    resultsMinutes: account.resultsMinutes,
    externalId: account.externalId,
    creditLineMicros: account.creditLineMicros,
  };
  const { low_balance: low, providers: listed, hidden_models: hidden } = body;
  const edit = {
    ...(body.name !== undefined && { name: body.name }),
    ...limits.read(body.limits),
    ...(listed !== undefined && { providers: listed === 'all' ? null : [...new Set(listed)] }),
    ...(hidden !== undefined && { hiddenModels: [...new Set(hidden)] }),
    ...(body.notice_url !== undefined && { noticeUrl: body.notice_url }),
    ...(low !== undefined && { lowBalanceMicros: low === null ? null : microsOf(low) }),
    ...choiceBy(body),
    ...(body.external_id !== undefined && { externalId: body.external_id }),
  };
  return { edit, asRead };
}

const conditionTries = 5;

/** The condition comes first, and is tried until it is stored: a suspension is urgent. */
async function setCondition(account: Account, body: Change, { services }: OperatorContext): Promise<void> {
  const { condition } = body;
  if (condition === undefined) return;
  for (let tried = 1; ; tried += 1) {
    try {
      const isSet =
        body.version === undefined
          ? await services.accounts.changeIfThere(account.id, { condition })
          : await services.accounts.changeAsRead(account, { condition });
      if (!isSet) throw await meanwhile(account.id, services);
      return;
    } catch (error) {
      if (!(error instanceof Overloaded) || tried === conditionTries) throw error;
    }
  }
}

async function meanwhile(id: AccountId, { accounts }: OperatorContext['services']): Promise<Error> {
  const now = await accounts.read(id);
  return now ? changedMeanwhile(accountVersion(now)) : notFound();
}

/** PATCH /accounts/{id}. With a version, nothing that somebody else changed meanwhile is changed. */
export const changeAccount = changing({
  body: async (context) => {
    const body = parseBody(context.request, accountChangeSchema, (given) => [
      Object.keys(given).every((one) => one === 'version')
        ? { field: 'body', code: 'required', message: 'must name something to change' }
        : undefined,
    ]);
    if (body.credit_line !== undefined) context.require('wallet:adjust');
    await checkNames(body, context);
    return body;
  },
  run: async (body, context) => {
    const { services, key, nowMillis } = context;
    const account = await accountOf(context);
    if (body.version !== undefined && body.version !== accountVersion(account))
      throw changedMeanwhile(accountVersion(account));
    const { edit, asRead } = editOf(body, account);
    const note = Object.keys(body).filter((name) => name !== 'version');
    await context.noteIn(account.id, body.condition ?? note.join(', '));
    await setCondition(account, body, context);
    if (Object.keys(edit).length > 0) {
      const held = body.version === undefined ? { externalId: account.externalId } : asRead;
      if (
        !(await services.edits.edit(
          account,
          edit,
          'externalId' in edit || body.version !== undefined ? held : {},
        ))
      ) {
        const { external_id: wanted } = body;
        const named = typeof wanted === 'string' ? await services.edits.named(wanted) : undefined;
        if (named !== undefined && named !== account.id) throw externalIdTaken(named);
        throw await meanwhile(account.id, services);
      }
    }
    if (body.credit_line !== undefined) {
      const to = microsOf(body.credit_line);
      const more = asMicros(to - account.creditLineMicros);
      const beside = more > 0 ? [services.operatorKeys.credits(key, more, nowMillis)] : [];
      const outcome =
        more === 0 ? 'changed' : await setCreditLine(account, to, services, { by: key.id, beside });
      if (outcome === 'changed_meanwhile') throw await meanwhile(account.id, services);
      if (outcome === 'out_of_range') throw tooMuch('credit_line');
      if (outcome === 'refused_beside') throw await creditRefused(more, context);
    }
    await checkAfterCommand({ accountId: account.id, periods: {} }, services);
    return { status: 200, body: accountView(await accountOf(context)) };
  },
});
