/**
 * The invariants of two people who edit at once: an edit that was answered is never lost without a later one that saw
 * it, a revocation is never undone, a rolled key ends, and a secret that was shown verifies until it is over.
 */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { accountFromItem, apiKeyFromItem } from '../../../service/accounts/account-items.ts';
import { hashKey } from '../../../service/accounts/api-key.ts';
import { capNames } from '../../../service/accounts/caps.ts';
import { alertsVersion, keyVersion } from '../../../service/accounts/version.ts';
import type { PortalOperationName, Role } from '../../../service/contract/operations.ts';
import { memberFromItem } from '../../../service/portal/people-store.ts';
import { memberVersion } from '../../../service/portal/people.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { asBody, type Body, memberOf } from '../clients/requests.ts';
import type { World } from '../world/simulated-world.ts';
import { isOfReading } from './events.ts';
import { type Accuse, textOf } from './money-books.ts';
import { isOnlyNoticeMark } from './notices.ts';
import type { WebhookInvariants } from './webhooks.ts';

const replacedMillis = 24 * 3_600_000;

/** The operations whose body has the version of what the page showed, and the beginning of the item's sort key. */
const versioned = { changeKey: 'KEY#', changePerson: 'MEMBER#', setAlerts: 'ACCOUNT' } as const;

const plain = (item: Item): Record<string, unknown> => unmarshall(item as Parameters<typeof unmarshall>[0]);

const edited = ['name', 'role', 'keyCapMicros', 'models', 'expiresAt', 'revokedAt', ...capNames] as const;

/** Whether a write changed something that people edit. It is asked at every commit, so it compares as it is stored. */
function isEdit({ sk, before, after }: Change): boolean {
  if (!/^(KEY#|MEMBER#|ACCOUNT$)/.test(sk)) return false;
  const names = sk === 'ACCOUNT' ? ['noticeUrl', 'lowBalanceMicros'] : edited;
  return names.some((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]));
}

/** The version of a key, a member or the alerts of an account. */
function versionOf(sk: string, item: Item | undefined): string {
  if (!item) return '';
  if (sk.startsWith('KEY#')) return keyVersion(apiKeyFromItem(plain(item)));
  if (sk.startsWith('MEMBER#')) return memberVersion(memberFromItem(plain(item)));
  return alertsVersion(accountFromItem(plain(item)));
}

export function createPortalEditInvariants(
  world: World,
  table: () => SimulatedTable | undefined,
  webhooks: WebhookInvariants,
  accuse: Accuse,
) {
  /** The versions that an item had, and until when. */
  const versions = new Map<string, { readonly version: string; readonly until: number }[]>();

  /** The page knew the item as it was before the commit. */
  function sawWhatItReplaces(call: PortalCall, change: Change): void {
    const { pk, sk, before } = change;
    const place = versioned[call.name as keyof typeof versioned] as string | undefined;
    if (place === undefined || !sk.startsWith(place) || !isEdit(change)) return;
    if (call.body['version'] !== versionOf(sk, before))
      accuse('no edit is lost to one that did not see it', `${call.id} ${call.name} of ${pk} ${sk}`);
  }

  function keepsVersion(change: Change): void {
    if (!isEdit(change)) return;
    const { pk, sk, before } = change;
    const old = versionOf(sk, before);
    const own = `${pk} ${sk}`;
    versions.set(own, [...(versions.get(own) ?? []), { version: old, until: world.time.now() }]);
  }

  function keyStaysDead({ pk, sk, before, after }: Change): void {
    if (!sk.startsWith('KEY#') || !before) return;
    const at = textOf(before, 'revokedAt');
    if (at !== '' && textOf(after, 'revokedAt') !== at)
      accuse('a revocation is never undone', `${pk} ${sk}: ${at}`);
    const end = textOf(before, 'expiresAt');
    const next = textOf(after, 'expiresAt');
    // The steps of people never set another end.
    if (end !== '' && (next === '' || next > end))
      accuse('a key that was rolled keeps its end', `${pk} ${sk}`);
    if (!after) accuse('a key stays in the table', `${pk} ${sk}`);
  }

  /** A roll sees every edit before it: the new key has the limits that the old one had at that moment. */
  function newKeyHasTheLimits(call: PortalCall, changes: readonly Change[]): void {
    if (call.name !== 'rollKey') return;
    const made = changes.find(({ sk, before }) => sk.startsWith('KEY#') && !before);
    const old = changes.find(({ sk }) => sk === `KEY#${call.pathId}`);
    if (!made) return;
    if (!old?.before) accuse('a roll makes a key and ends the other', `${call.id} ${made.sk}`);
    const names = ['name', ...capNames];
    // Only a roll sets an expiry here, and only that of the old key.
    if (textOf(made.after, 'expiresAt') !== '')
      accuse('a key that was rolled hands on no end', `${call.id} ${made.sk}`);
    if (names.some((name) => JSON.stringify(old?.before?.[name]) !== JSON.stringify(made.after?.[name])))
      accuse('no edit is lost to one that did not see it', `${call.id} rolls ${old?.sk ?? ''}`);
  }

  function secretsStay({ pk, sk, before, after }: Change): void {
    // An erased account signs nothing more.
    if (sk !== 'ACCOUNT' || !before || after?.['erasedAt']) return;
    const [old, next] = [before['webhookSecrets']?.L ?? [], after?.['webhookSecrets']?.L ?? []];
    if (JSON.stringify(old) === JSON.stringify(next)) return;
    const slack = world.clocks.largestSkew() + 1_000;
    const kept = new Set(next.map((secret) => secret.M?.['sealed']?.S));
    for (const { M: secret } of old) {
      const over = Number(secret?.['replacedAt']?.N ?? Infinity) + replacedMillis - slack;
      if (over > world.time.now() && !kept.has(secret?.['sealed']?.S))
        accuse('a secret that was issued verifies until it is over', pk);
    }
  }

  function isStored({ id, name, account, pathId, startedAt }: PortalCall, body: Body): void {
    const sk = name === 'setAlerts' ? 'ACCOUNT' : `${name === 'changeKey' ? 'KEY' : 'MEMBER'}#${pathId}`;
    const pk = `ACCOUNT#${account}`;
    const told = memberOf(body, 'version');
    const now = versionOf(sk, table()?.get(pk, sk));
    const during = (versions.get(`${pk} ${sk}`) ?? []).filter(({ until }) => until >= startedAt);
    if (told !== now && !during.some(({ version }) => version === told))
      accuse('an edit that was answered was stored', `${id} ${name}`);
  }

  function keyIsStored(call: PortalCall, body: Body): void {
    const record = asBody(body['record']);
    const pk = `ACCOUNT#${call.account}`;
    const item = table()?.get(pk, `KEY#${memberOf(record ?? {}, 'id')}`);
    if (textOf(item, 'hash') !== hashKey(memberOf(body, 'key')))
      accuse('a key that was shown is stored', `${call.id} ${call.name}`);
    if (call.name !== 'rollKey') return;
    const end = textOf(table()?.get(pk, `KEY#${call.pathId}`), 'expiresAt');
    if (end === '' || end > memberOf(body, 'replaced_until'))
      accuse('a key that was rolled keeps its end', `${call.id}: ${end}`);
  }

  return {
    /** @param call undefined when no function of the portal has written */
    onCommit: (call: PortalCall | undefined, changes: readonly Change[]) => {
      for (const change of changes) {
        keyStaysDead(change);
        secretsStay(change);
        keepsVersion(change);
        if (call) sawWhatItReplaces(call, change);
      }
      if (call) newKeyHasTheLimits(call, changes);
    },
    onServed: (call: PortalCall, status: number, body: Body) => {
      if (status >= 300) return;
      if (call.name in versioned) isStored(call, body);
      if (call.name === 'createKey' || call.name === 'rollKey') keyIsStored(call, body);
      const isRevoked =
        textOf(table()?.get(`ACCOUNT#${call.account}`, `KEY#${call.pathId}`), 'revokedAt') !== '';
      if (call.name === 'revokeKey' && !isRevoked) accuse('a revocation is never undone', call.id);
      const shown = memberOf(body, 'secret');
      if (shown !== '' && !webhooks.verifies(call.account, shown))
        accuse('a secret that was issued verifies until it is over', `${call.id} ${call.name}`);
    },
  };
}

// What the invariants of the portal know about a request.

/** Whether a write only notes the last use of a key, which the service notes for refused requests, too. */
function isLastUse({ sk, before, after }: Change): boolean {
  if (!sk.startsWith('KEY#')) return false;
  const { lastUsedAt: _then, ...old } = before ?? {};
  const { lastUsedAt: _now, ...next } = after ?? {};
  return JSON.stringify(old) === JSON.stringify(next);
}

/** Whether a write only notes the last use of a key, or is a deletion that came a second time. */
export function changesNothing(change: Change): boolean {
  return isLastUse(change) || (change.before === undefined && change.after === undefined);
}

/** The sort key up to its first #. The mark of a threshold, and what only reads of events write, are two more kinds. */
export function kindOf(change: Change): string {
  if (isOnlyNoticeMark(change)) return 'TOLD';
  return isOfReading(change) ? 'EVENT' : (change.sk.split('#')[0] ?? '');
}

/** One request of the portal, from its beginning to its answer. */
export interface PortalCall {
  readonly id: string;
  readonly name: PortalOperationName;
  readonly account: string;
  readonly person: string;
  readonly startedAt: number;
  readonly pathId: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The role at the beginning; '' when the person was no member. */
  readonly roleAtFirst: Role | '';
  /** The person's sessions had ended, and this was answered, before the request. */
  readonly isOver: boolean;
  /** Kinds of the rows that it wrote, beside its row in the log of actions. */
  readonly wrote: Set<string>;
  /** How many webhooks it opened again. */
  reopened: number;
  /** The row in the log of actions as it is. */
  row?: { readonly action: string; readonly person: string; readonly outcome: string };
}
