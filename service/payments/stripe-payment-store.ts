/**
 * Payments of Stripe, each change in one transaction. What moves money is guarded by the record of the payment, which
 * stays for ever: however often a payment is reported, its account is credited once, and what went back is
 * debited once. This file has more than 300 lines, because all transactions of one record stand beside each other.
 */
import { autoTopUpKey } from '../accounts/top-up-state-reads.ts';
import { createWalletStore } from '../accounts/wallet-store.ts';
import { putNew, updateIf } from '../aws/dynamodb/conditional.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem, putItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, openWorkIndex, type Table } from '../aws/dynamodb/table.ts';
import { toPutNew, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { noticeItems } from '../notices/notice-store.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import {
  asRead,
  autoTopUpFromItem,
  changeOf,
  pauseChange,
  reservedName,
  type TopUpChange,
} from './auto-top-up-items.ts';
import { type AutoTopUp, hasRoom, isOfOperator, type PauseReason, type SavedCard } from './auto-top-up.ts';
import { nextCheck, type PaymentId, partsOf, type StripePayment } from './payment.ts';
import { paymentKey } from './payment-store.ts';
import { again, sendItems, update } from './payment-transaction.ts';
import {
  cursorKey,
  duePayments,
  heldPayments,
  stripePaymentFromItem,
  stripePaymentToItem,
} from './stripe-payment-items.ts';

/**
 * Why no automatic payment begins. 'changed': the top-up is no longer what was read, or a payment is under way.
 * 'behind': the listing of Stripe's events is older than an hour, as after a restore of the table.
 */
export type NotBegun = 'changed' | 'enough' | 'monthly_cap' | 'behind';

export type StripePaymentStore = ReturnType<typeof createStripePaymentStore>;

export function createStripePaymentStore(table: Table) {
  return {
    read: (id: PaymentId): Promise<StripePayment | undefined> => read(table, id),
    /** Stores a payment that a person is about to make. */
    beginCheckout: (payment: StripePayment): Promise<void> => beginCheckout(table, payment),
    /** Stores an automatic payment and reserves its amount, while the account has less than the threshold. */
    beginAuto: (payment: StripePayment, top: AutoTopUp): Promise<'begun' | NotBegun> =>
      beginAuto(table, payment, top),
    /**
     * Credits the account with what Stripe took, in any state of the record, also without one. Gives 'already' when
     * the payment was credited before, and 'out_of_range' when the account cannot hold the amount.
     */
    settle: (
      payment: StripePayment,
      more: Settlement = {},
    ): Promise<'credited' | 'already' | 'out_of_range'> => settle(table, payment, more),
    /** Stores the ids from an answer of Stripe. */
    note: async (id: PaymentId, ids: StripeIds): Promise<void> => note(table, id, ids),
    /**
     * Marks a payment that a person must check: no money moves. False: it was held before, or it was
     * credited.
     */
    hold: (payment: StripePayment): Promise<boolean> => hold(table, payment),
    /**
     * Ends a payment that Stripe will surely not take, and releases its reservation. The top-up pauses, if a
     * reason is given. False when the payment is no longer open.
     */
    fail: (id: PaymentId, end: FailedEnd): Promise<boolean> => fail(table, id, end),
    /**
     * Brings what went back to `targetMicros` by one ledger row: a debit, or a credit after a dispute that was won.
     * False when the record is no longer of the version that was read.
     */
    reverse: (payment: StripePayment, targetMicros: Micros, why: Reversal): Promise<boolean> =>
      reverse(table, payment, targetMicros, why),
    /** Stores a notice of the reached cap, once for each month. False when it was sent before. */
    storeCapNotice: (top: AutoTopUp, month: string, notice: NoticeRecord | undefined): Promise<boolean> =>
      storeCapNotice(table, top, month, notice),
    /** Suspends an account that is active. */
    suspend: (account: AccountId): Promise<void> => suspend(table, account),
    /** Plans the next check of a payment that is not settled. */
    postpone: (payment: StripePayment, nowMillis: number): Promise<void> =>
      postpone(table, payment, nowMillis),
    /** The payments that are due, in pages. */
    due: (nowMillis: number) => inPart(table, duePayments, nowMillis),
    /** The payments that a person must check. */
    held: () => held(table),
    /** Up to when all events of Stripe were read, in Unix milliseconds. Undefined: none were read yet. */
    readCursor: async (): Promise<number | undefined> =>
      (await getItem(table, cursorKey))?.['untilMillis'] as number | undefined,
    moveCursor: async (untilMillis: number): Promise<void> => {
      await putItem(table, { ...cursorKey, untilMillis }, {});
    },
  };
}

export type StripeIds = Partial<Pick<StripePayment, 'session' | 'paymentIntent' | 'customer'>>;

export interface Settlement {
  /** The account at Stripe that has paid. */
  readonly customer?: string | null | undefined;
  /** The card that the person has saved. It ends a pause. */
  readonly card?: SavedCard | undefined;
  readonly notice?: NoticeRecord | undefined;
}

export interface FailedEnd {
  /** 'unknown' keeps the reservation: Stripe may still take the payment. */
  readonly state: 'failed' | 'expired' | 'unknown';
  readonly pause?: PauseReason;
  readonly notice?: NoticeRecord | undefined;
}

export interface Reversal {
  readonly reason: 'refund' | 'dispute' | 'dispute_won';
  /** The part of the target that disputes caused. */
  readonly disputedMicros: Micros;
  readonly notice?: NoticeRecord | undefined;
}

async function read(table: Table, id: PaymentId): Promise<StripePayment | undefined> {
  return stripePaymentFromItem(await getItem(table, paymentKey(id)));
}

async function readTopUp(table: Table, account: AccountId): Promise<AutoTopUp> {
  return autoTopUpFromItem(account, await getItem(table, autoTopUpKey(account)));
}

function noticePart(table: Table, notice: NoticeRecord | undefined): readonly TransactItem[] {
  return notice ? noticeItems(table, notice) : [];
}

async function beginCheckout(table: Table, payment: StripePayment): Promise<void> {
  // A repeated write of ours finds its own record.
  const refusals = await sendItems(table, [toPutNew(table, stripePaymentToItem(payment))]);
  if (refusals && (await read(table, payment.id))?.at !== payment.at)
    throw new Error('the id of a payment is taken');
}

/** A restored table first reads the events that it has missed. */
const oldestCursorMillis = 60 * 60_000;

async function beginAuto(table: Table, payment: StripePayment, top: AutoTopUp): Promise<'begun' | NotBegun> {
  const { accountId, amountMicros, month, id } = payment;
  const { choice, reservedMicros, version } = top;
  if (!choice || !top.isOn || top.paused !== undefined || top.open !== undefined) return 'changed';
  if (!hasRoom(top, month)) return 'monthly_cap';
  const taken = reservedMicros[month];
  const refusals = await sendItems(table, [
    changeOf(table, accountId, {
      set: { open: id },
      reserve: { month, micros: amountMicros },
      condition: {
        // The reserved amount must be as it was read, so that the sum stays below the cap of this version.
        text: `#v = :read AND attribute_not_exists(#open) AND ${taken === undefined ? 'attribute_not_exists(#month)' : '#month = :taken'}`,
        names: { '#v': 'version', '#open': 'open', '#month': reservedName(month) },
        values: { ':read': version, ...(taken !== undefined && { ':taken': taken }) },
      },
    }),
    {
      ConditionCheck: {
        TableName: table.name,
        Key: keys.account(accountId),
        // An account that may not spend is not charged.
        ConditionExpression: 'availableMicros < :threshold AND #condition = :active',
        ExpressionAttributeNames: { '#condition': 'condition' },
        ExpressionAttributeValues: { ':threshold': choice.thresholdMicros, ':active': 'active' },
      },
    },
    toPutNew(table, stripePaymentToItem(payment)),
    {
      ConditionCheck: {
        TableName: table.name,
        Key: cursorKey,
        ConditionExpression: 'untilMillis >= :young',
        ExpressionAttributeValues: { ':young': table.clock.now() - oldestCursorMillis },
      },
    },
  ]);
  if (refusals === undefined) return 'begun';
  const [ofTopUp, ofAccount, ofRecord] = refusals;
  // The answer of our own write was lost, and the write was sent again.
  if (ofRecord && (await readTopUp(table, accountId)).open === id) return 'begun';
  if (ofTopUp ?? ofRecord) return 'changed';
  return ofAccount ? 'enough' : 'behind';
}

async function settle(
  table: Table,
  payment: StripePayment,
  { customer, card, notice }: Settlement,
): Promise<'credited' | 'already' | 'out_of_range'> {
  const { id, accountId, amountMicros } = payment;
  const entry = { kind: 'payment', amountMicros, payment: id } as const;
  return again(async () => {
    const [stored, top] = await Promise.all([read(table, id), readTopUp(table, accountId)]);
    if (stored?.creditedMicros !== undefined) return 'already';
    const credited = { state: 'succeeded', creditedMicros: amountMicros } as const;
    const record: TransactItem = stored
      ? update(table, paymentKey(id), {
          UpdateExpression:
            'SET #state = :state, creditedMicros = :credited, version = version + :one REMOVE openShard, dueAt',
          ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(creditedMicros)',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: { ':state': 'succeeded', ':credited': amountMicros, ':one': 1 },
        })
      : toPutNew(table, stripePaymentToItem({ ...payment, ...credited, version: 1 }));
    const beside = [
      record,
      ...besideSettled(table, payment, stored, { top, customer, card }),
      ...noticePart(table, notice),
    ];
    const outcome = await createWalletStore(table).move(accountId, entry, { beside });
    if (outcome.kind === 'refused_beside') return undefined;
    return outcome.kind === 'applied' ? 'credited' : 'out_of_range';
  });
}

/**
 * The top-up has its open payment no longer, and knows who pays and by which card. A payment whose reservation was
 * given back, or whose record is lost, did take money in its month, and so it counts there again.
 */
function besideSettled(
  table: Table,
  { id, kind, month, amountMicros }: StripePayment,
  stored: StripePayment | undefined,
  { top, customer, card }: Settlement & { readonly top: AutoTopUp },
): TransactItem[] {
  const isOpen = top.open === id;
  const isUncounted = kind === 'auto' && (stored?.state === 'failed' || !stored);
  const isNewCustomer = typeof customer === 'string' && top.customer !== customer;
  if (!isOpen && !isUncounted && !isNewCustomer && !card) return [];
  const endsPause = card !== undefined && !isOfOperator(top.paused);
  const read = asRead(top);
  return [
    changeOf(table, top.accountId, {
      set: {
        ...(isOpen && { open: undefined }),
        ...((isNewCustomer || card) && { customer }),
        ...(card && { card }),
        ...(endsPause && { paused: undefined }),
      },
      ...(endsPause && { isRunning: top.isOn }),
      ...(isUncounted && { reserve: { month, micros: amountMicros } }),
      isVersioned: isNewCustomer || card !== undefined,
      condition: {
        ...read,
        // A pause that came meanwhile must stay. Another open payment stays open.
        text: `${read.text} AND ${isOpen ? '#own = :own' : '(attribute_not_exists(#own) OR #own <> :own)'}`,
        names: { ...read.names, '#own': 'open' },
        values: { ...read.values, ':own': id },
      },
    }),
  ];
}

async function note(table: Table, id: PaymentId, ids: StripeIds): Promise<void> {
  const all = Object.entries(ids);
  await updateIf(table, paymentKey(id), {
    UpdateExpression: `SET ${all.map((_, place) => `#n${place} = :v${place}`).join(', ')}`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: Object.fromEntries(all.map(([name], place) => [`#n${place}`, name])),
    ExpressionAttributeValues: Object.fromEntries(all.map(([, value], place) => [`:v${place}`, value])),
  });
}

async function hold(table: Table, payment: StripePayment): Promise<boolean> {
  return again(async () => {
    const stored = await read(table, payment.id);
    if (!stored) {
      // After a restore of the table there may be no record, and perhaps no account.
      const lost = { ...stripePaymentToItem({ ...payment, state: 'held', version: 1 }), ...heldNow(table) };
      return (await putNew(table, lost)) ? true : undefined;
    }
    if (stored.creditedMicros !== undefined || stored.state === 'held') return false;
    const record = update(table, paymentKey(payment.id), {
      UpdateExpression: 'SET #state = :held, openShard = :part, dueAt = :now, version = version + :one',
      ConditionExpression: 'version = :read',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ...{ ':held': 'held', ':part': heldPayments, ':now': table.clock.now() },
        ...{ ':one': 1, ':read': stored.version },
      },
    });
    const top = await readTopUp(table, payment.accountId);
    // Nothing more is taken before the operator has checked the payment.
    const released = top.open === payment.id ? [changeOf(table, top.accountId, heldChange(top))] : [];
    return (await sendItems(table, [record, ...released])) === undefined ? true : undefined;
  });
}

function heldChange(top: AutoTopUp): TopUpChange {
  const pause: TopUpChange = isOfOperator(top.paused) ? { isVersioned: true } : pauseChange('operator');
  return { ...pause, set: { ...pause.set, open: undefined }, condition: asRead(top) };
}

function heldNow({ clock }: Table): Item {
  return { [openWorkIndex.partition]: heldPayments, [openWorkIndex.sort]: clock.now() };
}

async function fail(table: Table, id: PaymentId, { state, pause, notice }: FailedEnd): Promise<boolean> {
  return again(async () => {
    const stored = await read(table, id);
    if (stored?.state !== 'open') return false;
    const { kind, accountId, month, amountMicros } = stored;
    const record = update(table, paymentKey(id), {
      UpdateExpression: `SET #state = :state, version = version + :one${state === 'unknown' ? '' : ' REMOVE openShard, dueAt'}`,
      ConditionExpression: '#state = :open AND version = :read',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':state': state, ':open': 'open', ':one': 1, ':read': stored.version },
    });
    const before = await readTopUp(table, accountId);
    const isPausing = pause !== undefined && !isOfOperator(before.paused);
    const paused: TopUpChange = isPausing ? pauseChange(pause) : {};
    const asBefore = asRead(before);
    const top = changeOf(table, accountId, {
      ...paused,
      set: { ...paused.set, open: undefined },
      ...(state !== 'unknown' && { reserve: { month, micros: 0 - amountMicros } }),
      condition: {
        // A pause that came meanwhile stays, where only the operator ends it.
        text: `${asBefore.text} AND #own = :own`,
        names: { ...asBefore.names, '#own': 'open' },
        values: { ...asBefore.values, ':own': id },
      },
    });
    const items = [record, ...(kind === 'auto' ? [top] : []), ...noticePart(table, notice)];
    return (await sendItems(table, items)) === undefined ? true : undefined;
  });
}

async function reverse(
  table: Table,
  { id, accountId, version, creditedMicros, reversedMicros, disputedMicros: before }: StripePayment,
  targetMicros: Micros,
  { reason, disputedMicros, notice }: Reversal,
): Promise<boolean> {
  if (creditedMicros === undefined || targetMicros > creditedMicros || targetMicros < 0)
    throw new Error('a payment gives back at most what it credited');
  const amountMicros = asMicros(reversedMicros - targetMicros);
  if (amountMicros === 0 && disputedMicros === (before ?? 0)) return true;
  const record = update(table, paymentKey(id), {
    UpdateExpression: 'SET reversedMicros = :target, disputedMicros = :disputed, version = version + :one',
    ConditionExpression: 'version = :read',
    ExpressionAttributeValues: {
      ':target': targetMicros,
      ':disputed': disputedMicros,
      ':one': 1,
      ':read': version,
    },
  });
  // A dispute also pauses the automatic top-up, and closes Checkout, whatever else paused it.
  const pause: TopUpChange[] = reason === 'dispute' ? [pauseChange('dispute')] : [];
  const beside = [
    record,
    ...pause.map((one) => changeOf(table, accountId, one)),
    ...noticePart(table, notice),
  ];
  // A dispute of what was refunded already takes nothing more.
  if (amountMicros === 0) return (await sendItems(table, beside)) === undefined;
  const entry = { kind: 'payment_reversed', amountMicros, payment: id, reason } as const;
  const outcome = await createWalletStore(table).move(accountId, entry, { beside });
  if (outcome.kind === 'out_of_range') throw new Error('an account cannot hold what a payment gives back');
  return outcome.kind === 'applied';
}

async function storeCapNotice(
  table: Table,
  { accountId, version }: AutoTopUp,
  month: string,
  notice: NoticeRecord | undefined,
): Promise<boolean> {
  const change = changeOf(table, accountId, {
    set: { capTold: month },
    condition: {
      text: '#version = :read AND (attribute_not_exists(#told) OR #told <> :month)',
      names: { '#version': 'version', '#told': 'capTold' },
      values: { ':read': version, ':month': month },
    },
  });
  return (await sendItems(table, [change, ...noticePart(table, notice)])) === undefined;
}

async function suspend(table: Table, account: AccountId): Promise<void> {
  await updateIf(table, keys.account(account), {
    UpdateExpression: 'SET #condition = :suspended',
    ConditionExpression: '#condition = :active',
    ExpressionAttributeNames: { '#condition': 'condition' },
    ExpressionAttributeValues: { ':suspended': 'suspended', ':active': 'active' },
  });
}

async function postpone(table: Table, payment: StripePayment, nowMillis: number): Promise<void> {
  const dueAt = nextCheck(payment, nowMillis);
  await updateIf(table, paymentKey(payment.id), {
    UpdateExpression: dueAt === undefined ? 'REMOVE openShard, dueAt' : 'SET dueAt = :due',
    // A payment that was settled or held meanwhile stays as it is.
    ConditionExpression: '#state IN (:open, :unknown)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':open': 'open',
      ':unknown': 'unknown',
      ...(dueAt !== undefined && { ':due': dueAt }),
    },
  });
}

async function* inPart(
  table: Table,
  part: string,
  dueMillis = Infinity,
): AsyncGenerator<readonly PaymentId[]> {
  const isBounded = Number.isFinite(dueMillis);
  const pages = queryPages(table, {
    IndexName: openWorkIndex.name,
    KeyConditionExpression: `${openWorkIndex.partition} = :part${isBounded ? ` AND ${openWorkIndex.sort} <= :due` : ''}`,
    ExpressionAttributeValues: { ':part': part, ...(isBounded && { ':due': dueMillis }) },
  });
  for await (const { Items: items = [] } of pages) yield items.flatMap((item) => idOf(item) ?? []);
}

async function* held(table: Table): AsyncGenerator<StripePayment> {
  for await (const page of inPart(table, heldPayments))
    for (const id of page) {
      const payment = await read(table, id);
      if (payment?.state === 'held') yield payment;
    }
}

/** The keys of an item are the two parts of a payment's id. */
function idOf({ pk, sk }: Item): PaymentId | undefined {
  const id = `pay_${String(pk).slice('ACCOUNT#'.length)}_${String(sk).slice('PAYMENT#'.length)}`;
  return partsOf(id) ? (id as PaymentId) : undefined;
}
