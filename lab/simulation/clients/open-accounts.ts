/** The accounts with which a scenario begins. */
import { createHash } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { accountToItem, apiKeyToItem } from '../../../service/accounts/account-items.ts';
import { createKey, hashKey } from '../../../service/accounts/api-key.ts';
import { defaultLimits } from '../../../service/contract/limits.ts';
import type { Role } from '../../../service/contract/operations.ts';
import { newOperatorKey } from '../../../service/operated/operator-key.ts';
import { personIdOf } from '../../../service/portal/people.ts';
import { portalKeys } from '../../../service/portal/portal-key-items.ts';
import { hashToken, sessionValue } from '../../../service/portal/session.ts';
import type { Claims } from '../../../service/portal/sign-in/openid.ts';
import {
  type AccountId,
  type KeyId,
  newEndpointId,
  type PersonId,
  randomBase62,
} from '../../../service/values/ids.ts';
import { asMicros } from '../../../service/values/money.ts';
import { type Endpoint, flagsOf } from '../../../service/webhooks/endpoint.ts';
import { endpointsKey } from '../../../service/aws/dynamodb/table.ts';
import type { Service } from '../aws/deployed-service.ts';
import { tableName } from '../aws/simulated-table.ts';
import type { Behaviour } from '../network/peers.ts';
import type { World } from '../world/simulated-world.ts';
import {
  type AccountPlan,
  type EndpointPlan,
  type KeyPlan,
  type OperatorKeyPlan,
  peopleAtStart,
} from './scenario.ts';

/** Texts inside prompts and webhook addresses that must never appear in a log or a history. */
export const promptMark = 'a-prompt-nobody-may-log';
export const addressMark = 'token=hush';

/** A month before every scenario. */
const earlierMonth = '2026_08';

export interface KeyHeld {
  readonly id: KeyId;
  readonly text: string;
  /** Set once a command to revoke the key has begun. */
  revoked: boolean;
  /** Set once a command to revoke the key has returned. The service must refuse every later request. */
  revocationHolds: boolean;
  /** Since somebody rolled the key: when it may end at the earliest, and when it must have ended. */
  mayEndAt: number;
  mustEndBy: number;
}

/** A key that was not revoked or rolled. */
export function freshKey(id: KeyId, text: string): KeyHeld {
  return { id, text, revoked: false, revocationHolds: false, mayEndAt: Infinity, mustEndBy: Infinity };
}

export interface AccountHeld {
  readonly id: AccountId;
  readonly keys: readonly KeyHeld[];
  /** Keys that people made in the portal, in the order of the answers. */
  readonly made: KeyHeld[];
  /** Absent when no person of the account uses the portal. */
  readonly people: readonly PersonHeld[];
  /** Set once a command to suspend or activate the account has begun. */
  suspended: boolean;
  /** Set once a command to activate the account has begun. Its write may arrive late. */
  mayBeActivated: boolean;
  /** Set while a command to suspend the account has returned and no command to activate it has begun. */
  suspensionHolds: boolean;
}

/** A key of the account, or its first key when the account has fewer keys. */
export function keyAt(account: AccountHeld, index: number): KeyHeld {
  const key = account.keys[index] ?? account.keys[0];
  if (!key) throw new Error('an account of a scenario has a key');
  return key;
}

/** Where the notices of an account go. */
export function noticeAddress(receiver: Behaviour): string {
  return `https://receiver.test/${receiver}?notices&${addressMark}`;
}

/** No two endpoints have the same address, so that an address names its endpoint. */
export function endpointAddress(receiver: Behaviour, account: string, name: string): string {
  return `https://receiver.test/${receiver}?endpoint=${account}-${name.replaceAll(' ', '-')}&${addressMark}`;
}

/**
 * Writes an account with its keys straight into the table, because opening accounts is not what scenarios
 * test.
 */
export function openAccount(plan: AccountPlan, index: number, world: World, service: Service): AccountHeld {
  const id = randomBase62(10, world.randomBytes) as AccountId;
  const createdAt = new Date(world.now()).toISOString();
  const put = (item: object): void =>
    void service.table.perform('PutItem', {
      TableName: tableName,
      Item: marshall(item, { removeUndefinedValues: true }),
    });
  const rows = [
    { kind: 'top_up', amountMicros: plan.balanceMicros },
    { kind: 'credit_line', amountMicros: plan.creditMicros },
  ].map((row) => ({
    pk: `ACCOUNT#${id}`,
    sk: `LEDGER#${createdAt}#${row.kind}#opening`,
    at: createdAt,
    ...row,
  }));
  const plans = plan.keys.map((key) => ({ ...key, keyId: randomBase62(6, world.randomBytes) as KeyId }));
  for (const row of [...rows, ...plans.flatMap((key) => earlierRows(id, key))]) put(row);
  put(
    accountToItem({
      id,
      name: `account ${index}`,
      condition: 'active',
      availableMicros: asMicros(plan.balanceMicros + plan.creditMicros),
      creditLineMicros: asMicros(plan.creditMicros),
      inFlight: 0,
      limits: {
        ...defaultLimits,
        postRate: plan.postRate,
        ...(plan.getRate !== undefined && { getRate: plan.getRate }),
        maxUnusedUploads: plan.maxUnusedUploads,
        maxConcurrent: plan.maxConcurrent,
        deadlineSeconds: plan.deadlineSeconds,
      },
      policy: { providers: 'all', hiddenModels: [] },
      sandbox: true,
      webhookSecrets: [],
      createdAt,
      ...(plan.signedMinutes && { results: 'signed', resultsMinutes: plan.signedMinutes }),
      ...(plan.endpoints && flagsIn(plan.endpoints)),
      ...(plan.notices && {
        noticeUrl: noticeAddress(plan.notices.receiver),
        lowBalanceMicros: asMicros(plan.notices.lowMicros),
        ...(plan.notices.budgetMicros !== undefined && {
          monthlyBudgetMicros: asMicros(plan.notices.budgetMicros),
        }),
      }),
    }),
  );
  openEndpoints(plan, id, createdAt, world, put);
  const keys = plans.map(({ keyId, capMicros, dailyMicros, totalMicros, perUserMicros, earlierMicros }) => {
    const text = createKey(id, keyId, world.randomBytes);
    put(
      apiKeyToItem({
        id: keyId,
        accountId: id,
        name: 'server',
        hash: hashKey(text),
        createdAt,
        spent: earlierMicros === undefined ? {} : { [earlierMonth]: asMicros(earlierMicros) },
        spentByDay: {},
        ...(capMicros !== undefined && { monthlyCapMicros: asMicros(capMicros) }),
        ...(dailyMicros !== undefined && { dailyCapMicros: asMicros(dailyMicros) }),
        ...(totalMicros !== undefined && { totalCapMicros: asMicros(totalMicros) }),
        ...(perUserMicros !== undefined && { perUserMonthlyCapMicros: asMicros(perUserMicros) }),
      }),
    );
    return freshKey(keyId, text);
  });
  return { id, keys, people: [], made: [], suspended: false, mayBeActivated: false, suspensionHolds: false };
}

function flagsIn(
  plans: readonly EndpointPlan[],
): Partial<Record<'creationEndpoints' | 'noticeEndpoints', true>> {
  const { creationEndpoints, noticeEndpoints } = flagsOf(plans);
  return {
    ...(creationEndpoints && { creationEndpoints }),
    ...(noticeEndpoints && { noticeEndpoints }),
  };
}

function openEndpoints(
  { endpoints }: AccountPlan,
  account: AccountId,
  createdAt: string,
  world: World,
  put: (item: object) => void,
): void {
  if (!endpoints) return;
  const now = world.time.now();
  const list = endpoints.map(
    ({ receiver, events, enabled, failedForMillis, noticeAgoMillis }, index): Endpoint => ({
      id: newEndpointId(world.randomBytes),
      url: endpointAddress(receiver, account, `${index}`),
      description: '',
      events,
      enabled,
      createdAt,
      ...(failedForMillis !== undefined && { failingSince: now - failedForMillis }),
      ...(noticeAgoMillis !== undefined && { toldAt: now - noticeAgoMillis }),
    }),
  );
  put({ ...endpointsKey(account), revision: 1, endpoints: list });
}

/** What the key spent months ago. The account had the money then, so that its balance is that of the plan. */
function earlierRows(
  account: AccountId,
  { keyId, earlierMicros }: KeyPlan & { readonly keyId: KeyId },
): object[] {
  if (earlierMicros === undefined) return [];
  const at = '2026-08-01T00:00:00.000Z';
  const row = (kind: string, amountMicros: number): object => ({
    pk: `ACCOUNT#${account}`,
    sk: `LEDGER#${at}#${kind}#${keyId}`,
    kind,
    amountMicros,
    at,
  });
  return [row('top_up', earlierMicros), { ...row('adjustment', -earlierMicros), keyId, month: earlierMonth }];
}

/** The addresses of people, and what the issuer says of who has them. */
const issuer = 'https://issuer.test';

/** The index of the second owner among the invited addresses. Those before it are addresses of guests. */
export const ownersIndex = 2;

/** The address of a person with whom an account begins. */
function emailOf(place: number): string {
  return `person-${place}@client.test`;
}

/** The name that the issuer has for a person with whom an account begins. */
function subjectOf(account: AccountId, place: number): string {
  return `${account} ${place}`;
}

/** An address that is invited. */
export function addressAt(place: number): string {
  return place === ownersIndex ? emailOf(1) : `guest-${place}@client.test`;
}

/** @param who distinguishes the people who show the same address of a guest */
export function claimsAt(account: AccountId, place: number, who: number): Claims {
  const subject = place === ownersIndex ? subjectOf(account, 1) : `guest ${place} ${who}`;
  return { issuer, subject, email: addressAt(place), emailVerified: true };
}

/** A key of the operator API. */
export interface OperatorKeyHeld {
  readonly id: string;
  readonly text: string;
  /** Set once the command that revokes the key has begun. */
  revoked: boolean;
  /** Set once this command has returned. The service must refuse every later request. */
  revocationHolds: boolean;
}

/** Writes a key of the operator API straight into the table, as the command would. */
export function openOperatorKey(
  plan: OperatorKeyPlan,
  index: number,
  world: World,
  service: Service,
): OperatorKeyHeld {
  const { record, key } = newOperatorKey(
    {
      name: `back end ${index}`,
      scopes: plan.scopes,
      ...(plan.dailyCapMicros !== undefined && { dailyCreditCapMicros: asMicros(plan.dailyCapMicros) }),
      ...(plan.postRate !== undefined && { postRate: plan.postRate }),
    },
    { clock: service.operator.clock, randomBytes: world.randomBytes },
  );
  const { creditedByDay: _, ...item } = record;
  service.table.perform('PutItem', {
    TableName: tableName,
    Item: marshall({ pk: `OPERATOR_KEY#${record.id}`, sk: 'OPERATOR_KEY', ...item }),
  });
  return { id: record.id, text: key, revoked: false, revocationHolds: false };
}

// The people of an account, signed in before a scenario begins.

/** Before the start, so that no wrong clock takes the session for a later one. Sign-ins are fresh for 15 minutes. */
const signedInMillis = 120_000;

export interface PersonHeld {
  readonly id: PersonId;
  readonly role: Role;
  /** The value of the session's cookie, and its random part. */
  readonly cookie: string;
  readonly token: string;
  readonly sessionHash: string;
}

/**
 * Writes people, their places and their sessions straight into the table, as sign-ins would. It draws nothing from
 * the world's stream of randomness.
 */
export function openPeople(accountId: AccountId, world: World, service: Service): readonly PersonHeld[] {
  const signedInAt = world.time.now() - signedInMillis;
  const at = new Date(signedInAt).toISOString();
  const put = (item: object): void =>
    void service.table.perform('PutItem', {
      TableName: tableName,
      Item: marshall(item, { removeUndefinedValues: true }),
    });
  put({
    ...portalKeys.people(accountId),
    owners: peopleAtStart.filter((role) => role === 'owner').length,
  });
  return peopleAtStart.map((role, place) => {
    const subject = subjectOf(accountId, place);
    const id = personIdOf(issuer, subject);
    const email = emailOf(place);
    const token = createHash('sha256').update(`session of ${subject}`).digest('base64url');
    const sessionHash = hashToken(token);
    put({
      ...portalKeys.person(id),
      id,
      issuer,
      subject,
      email,
      accounts: new Set([accountId]),
      createdAt: at,
      lastSignInAt: at,
    });
    put({ ...portalKeys.member(accountId, id), accountId, personId: id, email, role, since: at });
    put({
      ...portalKeys.session(sessionHash),
      hash: sessionHash,
      personId: id,
      accountId,
      authenticatedAt: signedInAt,
      createdAt: signedInAt,
      lastSeenAt: signedInAt,
    });
    return { id, role, token, sessionHash, cookie: sessionValue(token, { personId: id, accountId }) };
  });
}
