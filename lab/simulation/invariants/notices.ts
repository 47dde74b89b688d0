/**
 * The invariants of notices: one notice for each crossed threshold, and no other notice. They are checked at each
 * commit, against the amounts of that commit, and at rest.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { asBody, bodyOf, memberOf } from '../clients/requests.ts';
import type { World } from '../world/simulated-world.ts';
import { createBudgetInvariants } from './budgets.ts';
import { type Accuse, textOf } from './money-books.ts';

const perUser = 'perUserMonthlyCapMicros';
const capNames = ['dailyCapMicros', 'monthlyCapMicros', 'totalCapMicros', perUser];

const numberIn = (item: Item | undefined, name: string): number | undefined => {
  const text = item?.[name]?.N;
  return text === undefined ? undefined : Number(text);
};
const namesIn = (item: Item | undefined, prefix: string): string[] =>
  Object.keys(item ?? {}).filter((name) => name.startsWith(prefix));
const totalOf = (item: Item | undefined): number =>
  namesIn(item, 'spent_').reduce((sum, name) => sum + (numberIn(item, name) ?? 0), 0);

interface Mark {
  readonly id: string;
  readonly level: number;
  readonly cap: number;
}

function markIn(item: Item | undefined, name: string): Mark | undefined {
  const mark = item?.[name]?.M;
  const id = mark?.['id']?.S;
  if (id === undefined) return undefined;
  return { id, level: Number(mark?.['level']?.N), cap: Number(mark?.['capMicros']?.N) };
}

/** The cap that a mark of a key names, and what was spent of it. */
function capBehind(item: Item, mark: string): { readonly cap: number | undefined; readonly spent: number } {
  const [, kind = '', period = ''] = /^told_([a-z]+)_(.+)$/.exec(mark) ?? [];
  const spent = { daily: numberIn(item, `day_${period}`), monthly: numberIn(item, `spent_${period}`) };
  return {
    cap: numberIn(item, `${kind}CapMicros`),
    spent: kind === 'total' ? totalOf(item) : (spent[kind as keyof typeof spent] ?? 0),
  };
}

/** The marks that the caps of a key may have, by what is spent. */
function dueMarks(item: Item): string[] {
  return [
    ...namesIn(item, 'day_').map((name) => name.replace('day_', 'told_daily_')),
    ...namesIn(item, 'spent_').map((name) => name.replace('spent_', 'told_monthly_')),
    'told_total_total',
  ];
}

function createCapNoticeInvariants(accuse: Accuse) {
  /** The last mark that was set, by item and attribute. It is remembered when the attribute is removed. */
  const told = new Map<string, Mark>();
  /** Keys whose caps were changed without a check, and keys that were charged. */
  const [changed, charged] = [new Set<string>(), new Set<string>()];
  /** All caps for each user that a key had. The notice of a user shows the cap that its check has read. */
  const userCaps = new Map<string, Set<number>>();

  function isNotified(name: string, mark: Mark, spent: number): void {
    const last = told.get(name);
    const what = `${name}: ${spent} of ${mark.cap} at ${mark.level} %`;
    if (last?.cap === mark.cap && mark.level <= last.level) accuse('each crossing is told once', what);
    // A refused request reaches level 100 with less.
    if (mark.level === 80 && spent * 100 < mark.cap * 80) accuse('no notice without a crossing', what);
    told.set(name, mark);
  }

  function followKey(name: string, { before, after = {} }: Change): void {
    if (before && capNames.some((cap) => numberIn(before, cap) !== numberIn(after, cap))) changed.add(name);
    if (before && totalOf(before) !== totalOf(after)) charged.add(name);
    const caps = [before, after].flatMap((item) => numberIn(item, perUser) ?? []);
    userCaps.set(name, new Set([...(userCaps.get(name) ?? []), ...caps]));
    for (const attribute of namesIn(after, 'told_')) {
      const mark = markIn(after, attribute);
      if (!mark || mark.id === markIn(before, attribute)?.id) continue;
      const { cap, spent } = capBehind(after, attribute);
      if (mark.cap !== cap)
        accuse('no notice without a crossing', `${name} ${attribute}: a cap of ${mark.cap}`);
      isNotified(`${name} ${attribute}`, mark, spent);
    }
  }

  function followUser(account: string, { sk, before, after = {} }: Change): void {
    const mark = markIn(after, 'told');
    if (!mark || mark.id === markIn(before, 'told')?.id) return;
    const caps = userCaps.get(`${account} KEY#${sk.split('#')[1] ?? ''}`);
    if (caps && !caps.has(mark.cap))
      accuse('no notice without a crossing', `${account} ${sk}: a cap of ${mark.cap}`);
    isNotified(`${account} ${sk}`, mark, numberIn(after, 'spentMicros') ?? 0);
  }

  function isNotifiedAtRest(
    name: string,
    mark: Mark | undefined,
    cap: number | undefined,
    spent: number,
  ): void {
    if (cap === undefined || spent * 100 < cap * 80) return;
    if (!mark || mark.level < (spent >= cap ? 100 : 80))
      accuse('a notice for each crossing', `${name}: ${spent} of ${cap}`);
  }

  return {
    onCommit: (change: Change) => {
      const { pk, sk, after } = change;
      const account = pk.slice('ACCOUNT#'.length);
      if (sk.startsWith('KEY#') && after) followKey(`${account} ${sk}`, change);
      if (sk.startsWith('USER#') && after) followUser(account, change);
    },
    /** The notices of keys whose account had its address all the time. */
    atRest: (table: SimulatedTable, isUnsure: (account: string) => boolean) => {
      for (const row of table.all()) {
        const [pk, sk] = [textOf(row, 'pk'), textOf(row, 'sk')];
        const account = pk.slice('ACCOUNT#'.length);
        const [kind, keyId = ''] = sk.split('#');
        const key = `${account} KEY#${keyId}`;
        if (isUnsure(account) || changed.has(key) || !charged.has(key)) continue;
        if (kind === 'KEY')
          for (const mark of dueMarks(row)) {
            const { cap, spent } = capBehind(row, mark);
            isNotifiedAtRest(`${key} ${mark}`, markIn(row, mark), cap, spent);
          }
        if (kind === 'USER') {
          const cap = numberIn(table.get(pk, `KEY#${keyId}`), perUser);
          isNotifiedAtRest(`${account} ${sk}`, markIn(row, 'told'), cap, numberIn(row, 'spentMicros') ?? 0);
        }
      }
    },
  };
}

type WalletMark = 'toldLow' | 'toldEmpty';

const walletMarks = ['toldLow', 'toldEmpty'] as const;
const typeOf: Readonly<Record<string, string>> = {
  toldLow: 'wallet.low',
  toldEmpty: 'wallet.empty',
  toldFailing: 'webhook.failing',
  toldBudget: 'budget.reached',
};
const failing = 10;

const idOf = (item: Item | undefined, mark: string): string | undefined => item?.[mark]?.M?.['id']?.S;

/** With at least this available, the notice is wrong. */
function requiredBy(notice: Item | undefined): number {
  const { account } = bodyOf(notice?.['webhook']?.M?.['body']?.S);
  return Math.round(Number(asBody(account)?.['required'] ?? 0) * 1_000_000);
}

/** Whether a write only marks that a notice was sent. */
export function isOnlyNoticeMark({ sk, before, after }: Change): boolean {
  if (sk === 'NOTICE' || after?.['of']?.S?.startsWith('ntc_')) return true;
  if (sk.startsWith('USER#')) return numberIn(before, 'spentMicros') === numberIn(after, 'spentMicros');
  if (sk !== 'ACCOUNT' && !sk.startsWith('KEY#')) return false;
  const rest = (item: Item | undefined): string =>
    JSON.stringify(Object.entries(item ?? {}).filter(([name]) => !name.startsWith('told')));
  return before !== undefined && rest(before) === rest(after);
}

export function createNoticeInvariants(world: World, accuse: Accuse) {
  const told = new Map<string, { readonly account: string; readonly toldAt: number }>();
  /** Marks that were set, and whose amount has not been above the threshold since, as `account mark`. */
  const standing = new Map<string, number>();
  const moved = new Set<string>();
  /** Accounts that were without an address. */
  const unsure = new Set<string>();
  const caps = createCapNoticeInvariants(accuse);
  const budgets = createBudgetInvariants(accuse);

  /** Wallet.low compares with the threshold of now, wallet.empty with what the refused request needed. */
  const goodFrom = (account: string, mark: WalletMark, item: Item): number =>
    mark === 'toldLow'
      ? (numberIn(item, 'lowBalanceMicros') ?? -Infinity)
      : (standing.get(`${account} ${mark}`) ?? 1);

  function followAmounts(account: string, before: Item | undefined, after: Item): void {
    const available = numberIn(after, 'availableMicros') ?? 0;
    if (before && numberIn(before, 'availableMicros') !== available) moved.add(account);
    if (!after['noticeUrl']) unsure.add(account);
    for (const mark of walletMarks) {
      if (available >= goodFrom(account, mark, after)) standing.delete(`${account} ${mark}`);
    }
  }

  function followWalletMark(
    mark: WalletMark,
    account: string,
    { before, after = {} }: Change,
    changes: readonly Change[],
  ): void {
    const [old, next] = [idOf(before, mark), idOf(after, mark)];
    if (old === next) return;
    const available = numberIn(after, 'availableMicros') ?? 0;
    if (old !== undefined && next === undefined && available < goodFrom(account, mark, after))
      accuse('a mark is taken back only on the good side', `${account} ${mark}: ${available}`);
    if (next === undefined) return;
    const notice = changes.find(({ sk }) => sk === 'NOTICE')?.after;
    const from = mark === 'toldLow' ? goodFrom(account, mark, after) : requiredBy(notice);
    if (available >= from)
      accuse('no notice without a crossing', `${account} ${mark}: ${available}, ${from}`);
    if (standing.has(`${account} ${mark}`)) accuse('each crossing is told once', `${account} ${mark}`);
    standing.set(`${account} ${mark}`, from);
  }

  function followFailing(account: string, { before, after = {} }: Change): void {
    const [old, next] = [idOf(before, 'toldFailing'), idOf(after, 'toldFailing')];
    if (old === next) return;
    const failures = numberIn(after, 'webhookFailures') ?? 0;
    if (old !== undefined && (next !== undefined || failures > 0))
      accuse('each row of failures is told once', `${account}: ${failures}`);
    if (next !== undefined && failures < failing)
      accuse('no notice without a crossing', `${account} toldFailing: ${failures}`);
  }

  /** A notice and the mark of its threshold are one commit. */
  function isMarked(notice: Item, changes: readonly Change[]): void {
    const id = textOf(notice, 'id');
    const account = textOf(notice, 'accountId');
    told.set(id, { account, toldAt: world.time.now() });
    // payment-notices.ts has what those of payments need.
    if (textOf(notice, 'type').startsWith('payment.')) return;
    if (textOf(notice, 'type').startsWith('endpoint.')) {
      isMarkedAtEndpoint(notice, changes);
      return;
    }
    const marks = changes.flatMap(({ sk, before, after }) =>
      sk === 'NOTICE'
        ? []
        : Object.keys(after ?? {}).filter((name) => idOf(after, name) === id && idOf(before, name) !== id),
    );
    const type = textOf(notice, 'type');
    const [mark = ''] = marks;
    if (marks.length !== 1 || (typeOf[mark] ?? 'key.cap_reached') !== type)
      accuse('no notice without a crossing', `${id} ${type}: marks ${marks.join(', ')}`);
    const body = bodyOf(notice['webhook']?.M?.['body']?.S);
    if (memberOf(body, 'notice') !== type || memberOf(body, 'id') !== id)
      accuse('a notice says what it is', id);
  }

  /** The same of an endpoint: the list says that its notice was sent, or that it was switched off. */
  function isMarkedAtEndpoint(notice: Item, changes: readonly Change[]): void {
    const list = changes.find(({ sk }) => sk === 'ENDPOINTS');
    const { endpoint } = bodyOf(notice['webhook']?.M?.['body']?.S);
    const id = asBody(endpoint)?.['id'];
    const mark = textOf(notice, 'type') === 'endpoint.failing' ? 'toldAt' : 'disabledReason';
    const [old, next] = [list?.before, list?.after].map(
      (item) => item?.['endpoints']?.L?.find(({ M }) => M?.['id']?.S === id)?.M?.[mark],
    );
    if (!next || old) accuse('no notice without a crossing', `${textOf(notice, 'id')}: ${mark}`);
  }

  function isNotifiedAtRest(account: string, item: Item): void {
    const available = numberIn(item, 'availableMicros') ?? 0;
    const expected = [
      ['toldLow', available < (numberIn(item, 'lowBalanceMicros') ?? -Infinity)],
      ['toldEmpty', available <= 0 || standing.has(`${account} toldEmpty`)],
      ['toldFailing', (numberIn(item, 'webhookFailures') ?? 0) >= failing],
    ] as const;
    for (const [mark, isCrossed] of expected) {
      if (isCrossed !== (idOf(item, mark) !== undefined))
        accuse('a notice for each crossing', `${account} ${mark}: ${available}, ${String(isCrossed)}`);
    }
  }

  return {
    /** All notices that were sent, by their ids. */
    told,
    onCommit: (changes: readonly Change[]) => {
      for (const change of changes) {
        const { pk, sk, before, after } = change;
        const account = pk.slice('ACCOUNT#'.length);
        if (sk === 'NOTICE' && after && !before) isMarked(after, changes);
        caps.onCommit(change);
        budgets.onCommit(change);
        if (sk !== 'ACCOUNT' || !after) continue;
        for (const mark of walletMarks) followWalletMark(mark, account, change, changes);
        followFailing(account, change);
        followAmounts(account, before, after);
      }
    },
    atRest: (table: SimulatedTable) => {
      // After a fault a check may be lost. The next check makes up for it, but there may be none.
      if (world.injected.length > 0 || world.incidents.size > 0) return;
      for (const account of moved) {
        const item = table.get(`ACCOUNT#${account}`, 'ACCOUNT');
        if (!item || unsure.has(account)) continue;
        isNotifiedAtRest(account, item);
      }
      for (const one of [caps, budgets]) one.atRest(table, (account) => unsure.has(account));
    },
  };
}
