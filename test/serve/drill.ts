/** The life of a service in the drill of a restore, and what must be true of the restored table afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import type { OperatorServices } from '../../admin/services.ts';
import type { Account } from '../../service/accounts/account.ts';
import type { Item } from '../../service/aws/dynamodb/table.ts';
import { eraseCreation } from '../../service/creations/erase.ts';
import { newInvitation } from '../../service/portal/people.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import { enter } from '../../service/portal/sign-in/enter.ts';
import type { CreationId, KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { differencesIn } from '../fixtures/books.ts';

export function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Order = (
  key: string,
  prompt: string,
) => Promise<{ readonly status: number; readonly id?: string | undefined }>;

/** What one action of the drill did, by the key of the item that records the action. */
export interface Done {
  readonly at: number;
  readonly name: string;
}

interface Holder {
  readonly account: Account;
  readonly keys: { readonly id: KeyId; readonly key: string }[];
}

/** Operators and clients, who do something all the time until `isOver`. */
export function createLife(operator: OperatorServices, order: Order, random: () => number) {
  const holders: Holder[] = [];
  const done: Done[] = [];
  const ordered: CreationId[] = [];
  const revoked = new Set<string>();
  /** People who were removed, by the time. */
  const left = new Map<string, number>();
  let count = 0;
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)] as One;
  const note = (name: string): void => void done.push({ at: Date.now(), name });

  const addKey = async (holder: Holder): Promise<void> => {
    const caps = { monthlyCap: '100', ...(random() < 0.5 && { perUserMonthlyCap: '50' }) };
    const { record, key } = await issueKey(operator, holder.account, { name: 'drill', ...caps });
    holder.keys.push({ id: record.id, key });
    note(`ACCOUNT#${holder.account.id} KEY#${record.id}`);
  };
  const addHolder = async (): Promise<void> => {
    const account = await createAccount(operator, {
      ...{ name: `drill ${(count += 1)}`, balance: '5', sandbox: 'yes' },
      ...{ postRate: '100000', maxConcurrent: '1000' },
    });
    const holder = { account, keys: [] };
    note(`ACCOUNT#${account.id} ACCOUNT`);
    await addKey(holder);
    holders.push(holder);
  };
  const actions: readonly (() => Promise<void>)[] = [
    addHolder,
    () => addKey(pick(holders)),
    async () => {
      const { account } = pick(holders);
      const reference = `paid ${(count += 1)}`;
      await operator.wallet.topUp(account.id, asMicros(1_000_000), reference);
      note(`ACCOUNT#${account.id} REFERENCE#${reference}`);
    },
    async () => {
      const { account } = pick(holders);
      const reference = `back ${(count += 1)}`;
      await operator.wallet.adjust(account.id, asMicros(-10_000), 'drill', reference);
      note(`ACCOUNT#${account.id} REFERENCE#${reference}`);
    },
    async () => {
      const { account } = pick(holders);
      const read = await operator.accounts.read(account.id);
      if (!read) throw new Error('the account is gone');
      await operator.wallet.setCreditLine(account.id, read.creditLineMicros, asMicros(1_000 * (count += 1)));
    },
    async () => {
      const { account } = pick(holders);
      await operator.accounts.change(account.id, { getRate: 100 + (count += 1) });
      note(`ACCOUNT#${account.id} ACCOUNT`);
    },
    async () => {
      const { account, keys } = holders.toSorted(
        (one, other) => other.keys.length - one.keys.length,
      )[0] as Holder;
      const key = keys.length > 1 ? keys.shift() : undefined;
      if (!key) return;
      await operator.accounts.revokeKey(account.id, key.id, new Date(Date.now()).toISOString());
      revoked.add(key.key);
      note(`ACCOUNT#${account.id} KEY#${key.id}`);
    },
    async () => {
      const { account } = pick(holders);
      const email = `person-${(count += 1)}@example.com`;
      const asked = { accountId: account.id, email, role: 'developer', invitedBy: 'operator' } as const;
      const invitation = newInvitation(asked, Date.now());
      await operator.people.invite(invitation, Infinity);
      if (random() < 0.5) {
        note(`ACCOUNT#${account.id} INVITATION#${invitation.id}`);
        return;
      }
      await signIn(operator, email);
      const member = (await operator.people.listMembers(account.id)).find((one) => one.email === email);
      if (member) note(`ACCOUNT#${account.id} MEMBER#${member.personId}`);
    },
    async () => {
      const members = await Promise.all(
        holders.map(({ account }) => operator.people.listMembers(account.id)),
      );
      const [member] = members.flat();
      if (!member) return;
      const account = { id: member.accountId };
      if ((await operator.people.removeMember(member)) !== 'changed') return;
      left.set(`ACCOUNT#${account.id} MEMBER#${member.personId}`, Date.now());
    },
    async () => {
      const id = ordered.shift();
      const creation = id && (await operator.creations.read(id));
      if (creation?.status === 'completed') {
        await eraseCreation(creation, 'operator', operator.erasure);
        note(`CREATION#${id} CREATION`);
      } else if (id) ordered.push(id);
    },
  ];
  const orders = async (): Promise<void> => {
    const { keys } = pick(holders);
    const prompt = random() < 0.3 ? 'a lake [sandbox:fail]' : 'a lake';
    const { status, id } = await order(pick(keys).key, prompt);
    if (status !== 202 || id === undefined) return;
    ordered.push(id as CreationId);
    note(`CREATION#${id} CREATION`);
  };

  return {
    holders,
    done,
    revoked,
    left,
    run: async (isOver: () => boolean): Promise<void> => {
      while (holders.length < 3) await addHolder();
      const lane = async (work: () => Promise<void>): Promise<void> => {
        while (!isOver()) {
          await work();
          await sleep(random() * 20);
        }
      };
      await Promise.all([lane(orders), lane(orders), lane(() => pick(actions)())]);
    },
    /** Does everything once. */
    each: async (): Promise<void> => {
      for (const action of actions) await action();
    },
    /** Waits until every creation has ended. */
    settle: async (): Promise<void> => {
      for (const { account } of holders)
        await expect
          .poll(async () => (await operator.accounts.read(account.id))?.inFlight, { timeout: 30_000 })
          .toBe(0);
    },
  };
}

function signIn({ people, table, clock }: OperatorServices, email: string): ReturnType<typeof enter> {
  return enter({ issuer: 'drill', subject: email, email, emailVerified: true }, undefined, clock.now(), {
    people,
    access: createPortalAccess(table),
    log: { info: () => undefined, alarm: () => undefined },
    settings: { emailsAreVerified: false },
  });
}

export type Items = ReadonlyMap<string, Item>;

export function nameOf({ pk, sk }: Item): string {
  return `${String(pk)} ${String(sk)}`;
}

export async function allItems({ table }: Pick<OperatorServices, 'table'>): Promise<Items> {
  const items = new Map<string, Item>();
  let from: Item | undefined;
  do {
    const page = await table.client.send(
      new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey: from }),
    );
    for (const item of page.Items ?? []) items.set(nameOf(item), item);
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
}

const passing =
  /^(HEALTH|IP|OPEN_COUNT|AUDIT|ERASE|LINK)|(RATE#|POLL$|LEASE$|HELD#|RETRY#|USAGE#|TEST_DELIVERY)/;
const marks = /^(told|openCreations$|openSum$|startsHeld$|lastUsedAt$|webhookFailures$)/;

const sums = new RegExp(`${marks.source}|^(availableMicros|inFlight|spentMicros|spent_.*|day_.*)$`);

function same(item: Item | undefined, without: RegExp = marks): string {
  const members = Object.entries(item ?? {}).filter(([name]) => !without.test(name));
  return JSON.stringify(members.sort(), (_name, value: unknown) =>
    value instanceof Set ? [...(value as Set<string>)].sort() : value,
  );
}

export interface Drilled {
  /** The old table, the restored one before the entry, and afterwards. */
  readonly old: Items;
  readonly before: Items;
  readonly after: Items;
  /** Items that somebody damaged in the old table later: they stay as they were at the moment. */
  readonly damaged: ReadonlySet<string>;
  readonly listed: readonly { readonly of: string; readonly id: string; readonly change: string }[];
  readonly done: readonly Done[];
  /** People who were removed, by the time. */
  readonly left: ReadonlyMap<string, number>;
  readonly sinceMillis: number;
}

/** Throws when something was lost, was not listed, or was entered twice. */
export async function checkDrill(operator: OperatorServices, drilled: Drilled): Promise<void> {
  const { old, before, after, damaged, listed, done, left, sinceMillis } = drilled;
  expect(await differencesIn(operator.table), 'the books').toEqual([]);
  const isMoney = (name: string): boolean => / (LEDGER#|REFERENCE#)/.test(name);
  for (const name of before.keys())
    if (isMoney(name) || / (ACCOUNT|CREATION|KEY#.*)$/.test(name))
      expect(after.has(name), `${name} was there at the moment`).toBe(true);
  for (const [name, item] of before)
    if (isMoney(name)) expect(same(after.get(name), /^user$/), name).toBe(same(item, /^user$/));
  // Another service may have ended what was open in the old table.
  const isOpen = (item: Item | undefined): boolean => /queued|processing/.test(String(item?.['status']));
  const goesOn = (item: Item | undefined): boolean =>
    isOpen(item) || isOpen(old.get(`CREATION#${String(item?.['creationId'])} CREATION`));
  const rows = [...after.keys()].filter(
    (name) => isMoney(name) && (old.has(name) || before.has(name) || !goesOn(after.get(name))),
  );
  const known = new Set([...old.keys(), ...before.keys()].filter(isMoney));
  expect(rows.sort(), 'rows').toEqual([...known].sort());
  const movesOn = [...old.values()].some(isOpen);
  for (const [name, item] of old) {
    if (passing.test(name) || damaged.has(name) || goesOn(item)) continue;
    // The sums of one item may change. The audit compares them with the rows.
    const without = movesOn && / (ACCOUNT|KEY#|USER#)/.test(name) ? sums : marks;
    expect(same(after.get(name), without), name).toBe(same(item, without));
  }
  for (const [name, item] of after)
    expect(
      old.has(name) || before.has(name) || passing.test(name) || goesOn(item) || name === 'SERVICE SERVICE',
      `${name} came from nowhere`,
    ).toBe(true);
  for (const name of left.keys()) expect(after.has(name), `${name} was removed`).toBe(false);
  const once = listed.map(({ of, id }) => `${of} ${id}`);
  const told = new Set([...once, ...listed.map(({ id }) => `CREATION#${id} CREATION`)]);
  expect(new Set(once).size, 'everything is listed once').toBe(once.length);
  for (const { at, name } of done)
    // An answer comes later than its write. What was written once, and was there, is not of later.
    if (at > sinceMillis && !left.has(name) && !(isMoney(name) && before.has(name)))
      expect(told.has(name), `${name} is listed`).toBe(true);
  for (const [name, at] of left)
    if (at > sinceMillis && before.has(name)) expect(told.has(name), `${name} is listed`).toBe(true);
}
