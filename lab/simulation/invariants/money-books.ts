/**
 * The invariants of money and state. They are checked at each commit against the simulation's own books,
 * which are computed from the writes alone. This file holds one state and its checks, so it may stay long.
 */
import type { Attribute, Item } from '../../../local/dynamodb/attributes.ts';
import { userHash } from '../../../service/accounts/end-user.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';

/** Reports an invariant that does not hold. */
export type Accuse = (invariant: string, detail: string) => void;

export interface CreationBook {
  readonly id: string;
  readonly account: string;
  readonly costMicros: number;
  readonly createdAt: number;
  /** When its charge was committed. A slow network may make this much later than `createdAt`. */
  readonly chargedAt: number;
  readonly idempotencyKey: string | undefined;
  /** Of the creations of its request. */
  readonly count: number;
  /** The counters of its key that the charge counted in: its day, and its user when the key caps each user. */
  readonly countedIn: readonly string[];
  charges: number;
  refunds: number;
  status: string;
  deadlineAt: number;
  terminalAt?: number;
  /** The number of rounds of webhook attempts that were opened so far. A redelivery opens a new round. */
  round: number;
}

const dayMillis = 86_400_000;
const terminal = new Set(['completed', 'failed']);

export const textOf = (item: Item | undefined, name: string): string => item?.[name]?.S ?? '';
const numberOf = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);
const within = (item: Item | undefined, name: string, inner: string): Attribute | undefined =>
  item?.[name]?.M?.[inner];

/** The beginning of the day that an attribute or a counter names, Unix milliseconds. */
function dayTime(name: string): number {
  return Date.parse(name.slice(-10).replaceAll('_', '-'));
}

/** Whether a refund at this time gives back to the day: it is not over for two whole days. */
function isDayKept(name: string, atMillis: number): boolean {
  return dayTime(name) >= Math.floor(atMillis / dayMillis) * dayMillis - 2 * dayMillis;
}

/** Creates books that accuse as soon as a commit breaks one of the rules. */
export function createBooks(world: World, accuse: Accuse) {
  const creations = new Map<string, CreationBook>();
  const sums = new Map<string, number>();
  const rows = new Map<string, number>();
  const open = new Map<string, number>();
  const spent = new Map<string, number>();
  const counters = new Map<string, number>();
  const accounts = new Map<string, Item>();
  const keys = new Map<string, Item>();
  const users = new Map<string, Item>();
  const cut = new Set<string>();
  const add = (map: Map<string, number>, name: string, amount: number): void =>
    void map.set(name, (map.get(name) ?? 0) + amount);

  /** An erasure of the account takes the client's user out of a row, and changes nothing else. */
  function losesItsUser(before: Item, after: Item): boolean {
    const { user: _user, ...rest } = before;
    const textOfRow = (row: Item): string => JSON.stringify(Object.entries(row).sort());
    return textOfRow(rest) === textOfRow(after);
  }

  function ledgerIsAppendOnly({ before, after, sk }: Change): void {
    if (before && after && losesItsUser(before, after)) return;
    if (before || !after)
      accuse('the ledger is append-only', `${sk} was ${after ? 'overwritten' : 'deleted'}`);
  }

  function enter(pk: string, row: Item): void {
    const account = pk.slice('ACCOUNT#'.length);
    const amount = numberOf(row, 'amountMicros');
    add(sums, account, amount);
    add(rows, account, 1);
    if (amount < 0 && textOf(row, 'kind') !== 'charge') cut.add(account);
    const month = textOf(row, 'month');
    if (month !== '') add(spent, `${account} ${textOf(row, 'keyId')} ${month}`, -amount);
    const book = creations.get(textOf(row, 'creationId'));
    if (!book) return;
    if (textOf(row, 'kind') === 'charge') book.charges += 1;
    else refundIsWhole(book, row);
  }

  function refundIsWhole(book: CreationBook, row: Item): void {
    book.refunds += 1;
    countRefund(book, row);
    if (numberOf(row, 'amountMicros') !== book.costMicros)
      accuse(
        'a refund gives back the whole charge',
        `${book.id}: ${numberOf(row, 'amountMicros')} of ${book.costMicros}`,
      );
  }

  function balanceIsTheLedgersSum(account: string, item: Item): void {
    const available = numberOf(item, 'availableMicros');
    if (available !== (sums.get(account) ?? 0))
      accuse(
        'available is the sum of the ledger',
        `${account}: ${available}, by the ledger ${sums.get(account) ?? 0}`,
      );
    if (available < 0 && !cut.has(account))
      accuse('available is never negative but after a cut', `${account}: ${available}`);
  }

  function inFlightIsWhatIsOpen(account: string, item: Item): void {
    if (numberOf(item, 'inFlight') !== (open.get(account) ?? 0))
      accuse(
        'in flight is what is open',
        `${account}: ${numberOf(item, 'inFlight')}, open ${open.get(account) ?? 0}`,
      );
  }

  function monthIsTheLedgersSum(account: string, key: Item): void {
    for (const [name, value] of Object.entries(key)) {
      if (!name.startsWith('spent_')) continue;
      const expected = spent.get(`${account} ${textOf(key, 'id')} ${name.slice('spent_'.length)}`) ?? 0;
      if (Number(value.N) !== expected)
        accuse(
          'a key’s month is the sum of its ledger',
          `${textOf(key, 'id')} ${name}: ${value.N ?? ''}, by the ledger ${expected}`,
        );
    }
  }

  /** Days, by the name of their attribute, and users, by the key of their counter. */
  function countersAreTheirCharges(account: string, name: string, stored: number): void {
    const expected = counters.get(`${account} ${name}`) ?? 0;
    if (stored !== expected)
      accuse(
        'a day and a user of a key count their own charges and refunds',
        `${account} ${name}: ${stored}, by the charges ${expected}`,
      );
  }

  /** The key holds each day of the last days on which it was charged, and no wrong day. */
  function daysAreTheirCharges(account: string, key: Item): void {
    const own = `${account} ${textOf(key, 'id')} `;
    const stored = Object.keys(key).filter((name) => name.startsWith('day_'));
    const newest = stored.toSorted().at(-1);
    const charged = [...counters.keys()].flatMap((name) =>
      name.startsWith(`${own}day_`) ? [name.slice(own.length)] : [],
    );
    const due = charged.filter((name) => newest === undefined || isDayKept(name, dayTime(newest)));
    for (const name of new Set([...stored, ...due]))
      countersAreTheirCharges(account, `${textOf(key, 'id')} ${name}`, numberOf(key, name));
  }

  /** A refund gives back to the counters of its charge. Only a day that is long over stays as it is. */
  function countRefund(book: CreationBook, row: Item): void {
    const refundedAt = Date.parse(textOf(row, 'at'));
    for (const name of book.countedIn) {
      const isOver = name.includes(' day_') && !isDayKept(name, refundedAt);
      if (!isOver) add(counters, name, -book.costMicros);
    }
  }

  /** The counters of a new creation: those that the product must use, whatever it writes. */
  function countedIn(creation: Item, changes: readonly Change[]): string[] {
    const account = textOf(creation, 'accountId');
    const keyId = textOf(creation, 'keyId');
    const key = keyBefore(creation, changes);
    const day = textOf(creation, 'createdAt').slice(0, 10).replaceAll('-', '_');
    const user = `${account} USER#${keyId}#${day.slice(0, 7)}#${userHash(textOf(creation, 'user'))}`;
    return [`${account} ${keyId} day_${day}`, ...(key?.['perUserMonthlyCapMicros'] ? [user] : [])];
  }

  function keyBefore(creation: Item, changes: readonly Change[]): Item | undefined {
    const changed = changes.find(({ sk }) => sk.startsWith('KEY#'));
    const pk = `ACCOUNT#${textOf(creation, 'accountId')}`;
    return changed?.before ?? keys.get(`${pk} KEY#${textOf(creation, 'keyId')}`);
  }

  /** The daily, total and per-user cap of the key as it was before the charge. */
  function capsAreKept(creation: Item, key: Item | undefined, counted: readonly string[]): void {
    const [day = '', user = ''] = counted;
    const own = `${textOf(creation, 'accountId')} ${textOf(creation, 'keyId')} `;
    const total = [...spent].reduce((sum, [name, value]) => sum + (name.startsWith(own) ? value : 0), 0);
    const limits: [string, string, number][] = [
      ['a key’s day is never above its cap', 'dailyCapMicros', counters.get(day) ?? 0],
      ['a key’s total is never above its cap', 'totalCapMicros', total],
      ['a user’s month is never above its cap', 'perUserMonthlyCapMicros', counters.get(user) ?? 0],
    ];
    for (const [invariant, name, value] of limits) {
      const cap = key?.[name];
      if (cap && value > Number(cap.N)) accuse(invariant, `${own}: ${value} of ${cap.N ?? ''}`);
    }
    if (key?.['perUserMonthlyCapMicros'] && textOf(creation, 'user') === '')
      accuse('a key with a cap for each user charges only for a user', own);
  }

  /** Checks a charge against the account and the key as they were before it. */
  function chargeWasAllowed(creation: Item, changes: readonly Change[], counted: readonly string[]): void {
    const id = textOf(creation, 'id');
    const account = changes.find(({ sk }) => sk === 'ACCOUNT');
    const row = changes.find(({ sk }) => sk.startsWith('LEDGER#'))?.after;
    if (numberOf(row, 'amountMicros') !== -numberOf(creation, 'costMicros'))
      accuse('a creation is charged its cost', id);
    if (textOf(account?.before, 'condition') !== 'active') accuse('only an active account is charged', id);
    if (numberOf(account?.after, 'availableMicros') < 0)
      accuse('a charge never overdraws', `${id}: ${numberOf(account?.after, 'availableMicros')}`);
    if (numberOf(account?.after, 'inFlight') > numberOf(account?.before, 'maxConcurrent'))
      accuse('never more open than the account may', id);
    const key = keyBefore(creation, changes);
    if (!key || key['revokedAt']) accuse('a revoked key charges nothing', id);
    capsAreKept(creation, key, counted);
    const cap = key?.['monthlyCapMicros'];
    const month = ['accountId', 'keyId', 'chargedMonth'].map((name) => textOf(creation, name)).join(' ');
    if (cap && (spent.get(month) ?? 0) > Number(cap.N))
      accuse('a key’s month is never above its cap', `${month}: ${spent.get(month) ?? 0} of ${cap.N ?? ''}`);
  }

  function keyHasOneUnrefundedCharge(book: CreationBook): void {
    if (book.idempotencyKey === undefined) return;
    const others = [...creations.values()].filter(
      (other) =>
        other.id !== book.id &&
        other.account === book.account &&
        other.idempotencyKey === book.idempotencyKey &&
        other.status !== 'failed' &&
        other.createdAt > book.createdAt - dayMillis + world.clocks.largestSkew(),
    );
    if (others.length >= book.count)
      accuse(
        'at most one unrefunded charge an idempotency key',
        `${book.id} and ${others.map(({ id }) => id).join(', ')}`,
      );
  }

  function chargesAllTogether(changes: readonly Change[]): void {
    const fresh = changes.flatMap(({ sk, before, after }) =>
      sk === 'CREATION' && !before ? [creations.get(textOf(after, 'id'))] : [],
    );
    const short = fresh.find((book) => book && book.count > fresh.length);
    if (short) accuse('all creations of a request are charged together', `${short.id}: ${fresh.length}`);
  }

  function terminalNeverChanges({ before, after }: Change): void {
    if (!before || !terminal.has(textOf(before, 'status'))) return;
    for (const name of [
      'status',
      'costMicros',
      'refundedMicros',
      'failure',
      'cancelledAt',
      'results',
      'completedAt',
      'chargedMonth',
    ]) {
      if (JSON.stringify(before[name]) !== JSON.stringify(after?.[name]))
        accuse('a terminal state never changes', `${textOf(before, 'id')} ${name}`);
    }
  }

  function failedIffRefunded(book: CreationBook): void {
    if (book.charges !== 1) accuse('a creation is charged once', `${book.id}: ${book.charges}`);
    if (book.refunds !== (book.status === 'failed' ? 1 : 0))
      accuse('failed if and only if refunded once', `${book.id} is ${book.status}, refunds ${book.refunds}`);
  }

  function follow(change: Change, changes: readonly Change[]): CreationBook {
    const { before, after } = change;
    const id = textOf(after, 'id');
    let book = creations.get(id);
    if (!book) {
      const metadata = JSON.parse(textOf(after, 'metadata')) as Readonly<Record<string, string>>;
      book = {
        id,
        account: textOf(after, 'accountId'),
        costMicros: numberOf(after, 'costMicros'),
        createdAt: Date.parse(textOf(after, 'createdAt')),
        chargedAt: world.time.now(),
        idempotencyKey: metadata.idempotency,
        count: Number(metadata.count ?? 1),
        countedIn: after ? countedIn(after, changes) : [],
        charges: 0,
        refunds: 0,
        round: 1,
        status: 'queued',
        deadlineAt: numberOf(after, 'deadlineAt'),
      };
      creations.set(id, book);
      for (const name of book.countedIn) add(counters, name, book.costMicros);
    }
    const isOpen = (item: Item | undefined): number =>
      item && !terminal.has(textOf(item, 'status')) ? 1 : 0;
    add(open, book.account, isOpen(after) - isOpen(before));
    book.status = textOf(after, 'status');
    if (terminal.has(book.status)) book.terminalAt ??= world.time.now();
    if (
      before &&
      within(after, 'webhook', 'attempts')?.N === '0' &&
      within(before, 'webhook', 'status')?.S !== 'pending' &&
      within(after, 'webhook', 'status')?.S === 'pending'
    )
      book.round += 1;
    return book;
  }

  return {
    creations,
    /** Forgets all commits. */
    restart: (): void => {
      for (const one of [creations, sums, rows, open, spent, counters, accounts, keys, users, cut])
        one.clear();
    },
    /** The number and the sum of the rows in an account's ledger. */
    ledgerOf: (account: string): { readonly rows: number; readonly sumMicros: number } => ({
      rows: rows.get(account) ?? 0,
      sumMicros: sums.get(account) ?? 0,
    }),
    onCommit: (changes: readonly Change[]) => {
      const touched = new Set<string>();
      const followed = changes.flatMap((change) => {
        if (change.sk !== 'CREATION') return [];
        terminalNeverChanges(change);
        return [follow(change, changes)];
      });
      for (const change of changes) {
        const { pk, sk, after } = change;
        if (
          pk.startsWith('ACCOUNT#') &&
          !/^(RATE|IDEMPOTENCY|RETRY|DELIVERY|ACTION|MEMBER|INVITATION)#/.test(sk)
        )
          touched.add(pk);
        if (sk.startsWith('LEDGER#')) {
          ledgerIsAppendOnly(change);
          if (after && !change.before) enter(pk, after);
        }
        if (sk === 'ACCOUNT' && after) accounts.set(pk, after);
        if (sk.startsWith('KEY#') && after) keys.set(`${pk} ${sk}`, after);
        if (sk.startsWith('USER#') && after) users.set(`${pk} ${sk}`, after);
      }
      chargesAllTogether(changes);
      for (const book of followed) {
        failedIffRefunded(book);
        touched.add(`ACCOUNT#${book.account}`);
        const isNew = changes.find(
          ({ sk, before, after }) => sk === 'CREATION' && !before && textOf(after, 'id') === book.id,
        );
        if (isNew?.after) {
          chargeWasAllowed(isNew.after, changes, book.countedIn);
          keyHasOneUnrefundedCharge(book);
        }
      }
      for (const pk of touched) {
        const item = accounts.get(pk);
        const account = pk.slice('ACCOUNT#'.length);
        if (!item) continue;
        balanceIsTheLedgersSum(account, item);
        inFlightIsWhatIsOpen(account, item);
        for (const [name, key] of keys)
          if (name.startsWith(`${pk} `)) {
            monthIsTheLedgersSum(account, key);
            daysAreTheirCharges(account, key);
          }
        for (const [name, user] of users)
          if (name.startsWith(`${pk} `))
            countersAreTheirCharges(account, name.slice(pk.length + 1), numberOf(user, 'spentMicros'));
      }
    },
  };
}

export type Books = ReturnType<typeof createBooks>;
