/** Who is signed in, and the figures, keys, people and actions of the account. */
import { isPlayground } from '../../accounts/key-changes.ts';
import { spentOf } from '../../accounts/user-token.ts';
import type { Role } from '../../contract/operations.ts';
import type {
  AccountView,
  ActionView,
  KeyDetail,
  MeView,
  PeopleView,
  TokenRow,
} from '../../contract/portal-views.ts';

import { keyNotFound, keyView } from '../../operated/key-view.ts';
import { modelViews } from '../model-view.ts';
import { parseKeyId } from '../../values/ids.ts';
import { asMicros, toUsd } from '../../values/money.ts';
import { freshMillis, type Invitation, invitationView, memberView } from '../people.ts';
import type { ReadHandle, TabHandle } from './open.ts';
import { cursorWords, parametersOf } from '../../operated/parameters.ts';

/** GET /me: who is signed in, where they belong, and what the pages have to know of the service. */
export const getMe: ReadHandle<'getMe'> = async (_request, caller, services) => {
  const { person, session, account, member, isOperator } = caller;
  const { settings, reads, clientUrls } = services;
  const { members, closed } = await reads.membersAndSwitch(person.id, person.accounts);
  const body: MeView = {
    person: {
      id: person.id,
      email: person.email,
      signed_in_at: new Date(session.authenticatedAt).toISOString(),
    },
    account:
      account && member
        ? { id: account.id, name: account.name, role: member.role, condition: account.condition }
        : null,
    accounts: members.map(({ accountId: id, accountName: name, role }) => ({ id, name, role })),
    is_operator: isOperator,
    fresh_until: new Date(session.authenticatedAt + freshMillis).toISOString(),
    service: {
      api_url: settings.apiUrl,
      openai_url: clientUrls.openai,
      mcp_url: clientUrls.mcp,
      payment_url: settings.paymentUrl,
      takes_payments: settings.takesPayments,
      contact: settings.contact,
      credentials_url: settings.credentialsUrl,
      inbox_url: settings.inboxUrl,
      closed_message: closed?.message ?? null,
    },
  };
  return { status: 200, body };
};

/** GET /account: its limits, what runs, its models, and how busy the service is. */
export const getAccount: ReadHandle<'getAccount'> = async (_request, caller, services) => {
  const { account, nowMillis } = caller;
  const { limits } = account;
  const standing = await services.reads.service();
  const { openCreations, closed } = standing;
  const catalog = await services.catalogs.at(standing.catalogRevision);
  const body: AccountView = {
    id: account.id,
    name: account.name,
    condition: account.condition,
    created_at: account.createdAt,
    limits: {
      post_rate: limits.postRate,
      get_rate: limits.getRate,
      user_post_rate: limits.userPostRate,
      user_get_rate: limits.userGetRate,
      max_concurrent: limits.maxConcurrent,
      deadline_seconds: limits.deadlineSeconds,
      max_unused_uploads: limits.maxUnusedUploads,
    },
    in_flight: account.inFlight,
    service: {
      open_creations: openCreations,
      capacity: services.serviceCapacity,
      is_closed: closed !== undefined,
    },
    models: modelViews(catalog, account.policy, standing, nowMillis),
  };
  return { status: 200, body };
};

/** GET /audit: what people did in the portal, the newest first; ?limit and ?cursor. */
export const listActions: ReadHandle<'listActions'> = async (request, { account }, { actions }) => {
  const parameters = parametersOf(request);
  const after = parameters.read('cursor', actionIn, cursorWords);
  const limit = parameters.limit();
  parameters.check();
  const page = await actions.list(account.id, limit, after);
  const data = page.actions.map((action): ActionView => ({
    id: action.id,
    at: action.at,
    email: action.email,
    action: action.action,
    target: action.target ?? null,
    outcome: action.outcome,
    note: action.note ?? null,
  }));
  return { status: 200, body: { data, next_cursor: page.after ?? null } };
};

function actionIn(text: string): string | undefined {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z#[\w-]{1,40}$/.test(text) ? text : undefined;
}

export const listKeys: TabHandle<'listKeys'> = async (_request, caller, { reads }) => {
  const keys = await reads.keys(caller.account.id);
  const data = keys.filter((key) => !isPlayground(key)).map((key) => keyView(key, caller.nowMillis));
  return { status: 200, body: { data, next_cursor: null } };
};

/** GET /keys/{id}: the key, and what the tokens that it minted in the last day spent. */
export const showKey: ReadHandle<'showKey'> = async ({ pathId }, { account, nowMillis }, { reads }) => {
  const id = parseKeyId(pathId);
  const { key, tokens, hasAll } = id ? await reads.keyAndTokens(account.id, id) : noKey;
  if (!key || isPlayground(key)) throw keyNotFound();
  const body: KeyDetail = {
    key: keyView(key, nowMillis),
    tokens: tokens
      .toSorted((a, b) => (a.expiresAt < b.expiresAt ? 1 : -1))
      .slice(0, mostTokensShown)
      .map((token): TokenRow => ({
        id: token.id,
        user: token.user,
        spend_limit: toUsd(token.limitMicros),
        spent: toUsd(spentOf(token)),
        max_uses: token.maxUses,
        uses: token.maxUses - token.usesLeft,
        expires_at: token.expiresAt,
        revoked_at: token.revokedAt ?? null,
      })),
    token_count: tokens.length,
    tokens_spent: toUsd(asMicros(tokens.reduce((sum, token) => sum + spentOf(token), 0))),
    has_all_tokens: hasAll,
  };
  return { status: 200, body };
};

const noKey = { key: undefined, tokens: [], hasAll: true } as const;
const mostTokensShown = 100;

export const listPeople: TabHandle<'listPeople'> = async (_request, { account, person }, { people }) => {
  const [members, invitations] = await Promise.all([
    people.listMembers(account.id),
    people.listInvitations(account.id),
  ]);
  const body: PeopleView = {
    people: members.map((member) => memberView(member, person.id)),
    invitations: invitations.filter(isOfAccount).map(invitationView),
  };
  return { status: 200, body };
};

/** An account has no operators. */
function isOfAccount(invitation: Invitation): invitation is Invitation & { readonly role: Role } {
  return invitation.role !== 'operator';
}
