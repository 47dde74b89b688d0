/**
 * Payments of Stripe and the automatic top-up, each change in one transaction. What moves money is guarded by the
 * record of the payment, which stays for ever: whatever tells of a payment, and however often, its account is credited
 * once, and what went back is debited once.
 */
import { createWalletStore, type MovementOutcome } from '../accounts/wallet-store.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { autoTopUpFromItem, autoTopUpKey, autoTopUpToItem, reservedName } from './auto-top-up-items.ts';
import type { AutoTopUp, PauseReason } from './auto-top-up.ts';
import { type PaymentId, partsOf, type StripePayment } from './payment.ts';
import { paymentKey } from './payment-store.ts';

/** Why no automatic payment begins. 'changed': the top-up is no longer what was read, or a payment is under way. */
export type NotBegun = 'changed' | 'enough' | 'monthly_cap';

export type StripePaymentStore = ReturnType<typeof createStripePaymentStore>;

export function createStripePaymentStore(table: Table) {
  return {
    read: (id: PaymentId): Promise<StripePayment | undefined> => read(table, id),
    readAutoTopUp: (account: AccountId): Promise<AutoTopUp | undefined> => readAutoTopUp(table, account),
    /** Stores what the owner chose. False when another call changed the top-up since it was read. */
    changeAutoTopUp: (before: AutoTopUp | undefined, next: AutoTopUp): Promise<boolean> =>
      changeAutoTopUp(table, before, next),
    /** Stores a payment that a person is about to make. */
    beginCheckout: (payment: StripePayment): Promise<void> => beginCheckout(table, payment),
    /** Stores an automatic payment and reserves its amount, while the account has less than the threshold. */
    beginAuto: (payment: StripePayment, top: AutoTopUp): Promise<'begun' | NotBegun> =>
      beginAuto(table, payment, top),
    /**
     * Credits the account with what Stripe took, in any state of the record, also without one. Gives 'already' when
     * the payment was credited before, and 'out_of_range' when the account cannot hold the amount.
     */
    settle: (payment: StripePayment): Promise<'credited' | 'already' | 'out_of_range'> =>
      settle(table, payment),
    /** Notes the ids that an answer of Stripe has told. */
    note: async (id: PaymentId, ids: StripeIds): Promise<void> => note(table, id, ids),
    /** Marks a payment that a person must look at: nothing moves. */
    hold: (id: PaymentId): Promise<void> => hold(table, id),
    /**
     * Ends a payment that Stripe will surely not take, and gives its reservation back. The top-up pauses, if a reason
     * is given. False when the payment is no longer open.
     */
    fail: (id: PaymentId, end: FailedEnd): Promise<boolean> => fail(table, id, end),
    /**
     * Brings what went back to `targetMicros` by one ledger row: a debit, or a credit after a dispute that was won.
     * False when the record is no longer of the version that was read.
     */
    reverse: (payment: StripePayment, targetMicros: Micros, why: Reversal): Promise<boolean> =>
      reverse(table, payment, targetMicros, why),
  };
}

export type StripeIds = Pick<StripePayment, 'session' | 'paymentIntent' | 'customer'>;

export interface FailedEnd {
  /** 'unknown' keeps the reservation: Stripe may still take the payment. */
  readonly state: 'failed' | 'expired' | 'unknown';
  readonly pause?: PauseReason;
}

export interface Reversal {
  readonly reason: 'refund' | 'dispute' | 'dispute_won';
  /** What of the target is of disputes. */
  readonly disputedMicros: Micros;
  /** A dispute also pauses the automatic top-up. */
  readonly pause?: PauseReason;
}

async function read(table: Table, id: PaymentId): Promise<StripePayment | undefined> {
  const item = await getItem(table, paymentKey(id));
  if (item?.['kind'] !== 'checkout' && item?.['kind'] !== 'auto') return undefined;
  const { pk: _pk, sk: _sk, ...rest } = item;
  return rest as unknown as StripePayment;
}

async function readAutoTopUp(table: Table, account: AccountId): Promise<AutoTopUp | undefined> {
  const item = await getItem(table, autoTopUpKey(account));
  return item && autoTopUpFromItem(account, item);
}

async function changeAutoTopUp(
  table: Table,
  before: AutoTopUp | undefined,
  next: AutoTopUp,
): Promise<boolean> {
  const { isOn, thresholdMicros, amountMicros, monthlyCapMicros, paused } = next;
  const chosen = { isOn, thresholdMicros, amountMicros, monthlyCapMicros };
  if (!before)
    return (await send(table, [put(table, autoTopUpToItem({ ...next, version: 1 }))])) === undefined;
  const values = Object.fromEntries(Object.entries(chosen).map(([name, value]) => [`:${name}`, value]));
  const set = Object.keys(chosen).map((name) => `${name} = :${name}`);
  const refusals = await send(table, [
    update(table, autoTopUpKey(next.accountId), {
      UpdateExpression: `SET ${set.join(', ')}, version = version + :one${paused === undefined ? ' REMOVE paused' : ''}`,
      ConditionExpression: 'version = :read',
      ExpressionAttributeValues: { ...values, ':one': 1, ':read': before.version },
    }),
  ]);
  return refusals === undefined;
}

async function beginCheckout(table: Table, payment: StripePayment): Promise<void> {
  // A repeated write of ours finds its own record.
  const refusals = await send(table, [put(table, toItem(payment))]);
  if (refusals && (await read(table, payment.id))?.at !== payment.at)
    throw new Error('the id of a payment is taken');
}

async function beginAuto(table: Table, payment: StripePayment, top: AutoTopUp): Promise<'begun' | NotBegun> {
  const { accountId, amountMicros, month } = payment;
  const taken = top.reservedMicros[month];
  if (asMicros((taken ?? 0) + amountMicros) > top.monthlyCapMicros) return 'monthly_cap';
  const refusals = await send(table, [
    update(table, autoTopUpKey(accountId), {
      UpdateExpression: 'SET #open = :payment, #reserved = :reserved',
      // What was reserved is as read, so that the sum stays below the cap of this version.
      ConditionExpression: `version = :read AND isOn = :true AND attribute_not_exists(paused) AND attribute_not_exists(#open) AND ${taken === undefined ? 'attribute_not_exists(#reserved)' : '#reserved = :taken'}`,
      ExpressionAttributeNames: { '#open': 'open', '#reserved': reservedName(month) },
      ExpressionAttributeValues: {
        ':payment': payment.id,
        ':reserved': (taken ?? 0) + amountMicros,
        ':read': top.version,
        ':true': true,
        ...(taken !== undefined && { ':taken': taken }),
      },
    }),
    {
      ConditionCheck: {
        TableName: table.name,
        Key: keys.account(accountId),
        ConditionExpression: 'availableMicros < :threshold',
        ExpressionAttributeValues: { ':threshold': top.thresholdMicros },
      },
    },
    put(table, toItem(payment)),
  ]);
  if (refusals === undefined) return 'begun';
  // The answer of our own write was lost, and the write was sent again.
  if (refusals[2] && (await readAutoTopUp(table, accountId))?.open === payment.id) return 'begun';
  return refusals[0] ? 'changed' : 'enough';
}

async function settle(
  table: Table,
  payment: StripePayment,
): Promise<'credited' | 'already' | 'out_of_range'> {
  const { id, accountId, amountMicros } = payment;
  const entry = { kind: 'payment', amountMicros, payment: id } as const;
  return again(async () => {
    const [stored, top] = await Promise.all([read(table, id), readAutoTopUp(table, accountId)]);
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
      : put(table, toItem({ ...payment, ...credited, version: 1 }));
    const beside = [record, ...(top ? besideSettled(table, payment, stored, top) : [])];
    const outcome = await createWalletStore(table).move(accountId, entry, { beside });
    return outcome.kind === 'refused_beside' ? undefined : creditedBy(outcome);
  });
}

function creditedBy({ kind }: MovementOutcome): 'credited' | 'out_of_range' {
  return kind === 'applied' ? 'credited' : 'out_of_range';
}

/**
 * The top-up has its open payment no longer. A payment whose reservation was given back, or whose record is lost, did
 * take money in its month, and so it counts there again.
 */
function besideSettled(
  table: Table,
  { id, kind, month, amountMicros }: StripePayment,
  stored: StripePayment | undefined,
  top: AutoTopUp,
): TransactItem[] {
  const isOpen = top.open === id;
  const isUncounted = kind === 'auto' && (stored?.state === 'failed' || !stored);
  if (!isOpen && !isUncounted) return [];
  return [
    update(table, autoTopUpKey(top.accountId), {
      UpdateExpression: [
        ...(isUncounted ? ['ADD #reserved :amount'] : []),
        ...(isOpen ? ['REMOVE #open'] : []),
      ].join(' '),
      ConditionExpression: isOpen ? '#open = :payment' : 'attribute_not_exists(#open) OR #open <> :payment',
      ExpressionAttributeNames: {
        '#open': 'open',
        ...(isUncounted && { '#reserved': reservedName(month) }),
      },
      ExpressionAttributeValues: { ':payment': id, ...(isUncounted && { ':amount': amountMicros }) },
    }),
  ];
}

async function note(table: Table, id: PaymentId, ids: StripeIds): Promise<void> {
  const told = Object.entries(ids);
  await send(table, [
    update(table, paymentKey(id), {
      UpdateExpression: `SET ${told.map((_, place) => `#n${place} = :v${place}`).join(', ')}`,
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: Object.fromEntries(told.map(([name], place) => [`#n${place}`, name])),
      ExpressionAttributeValues: Object.fromEntries(told.map(([, value], place) => [`:v${place}`, value])),
    }),
  ]);
}

async function hold(table: Table, id: PaymentId): Promise<void> {
  await send(table, [
    update(table, paymentKey(id), {
      UpdateExpression: 'SET #state = :held, version = version + :one REMOVE openShard, dueAt',
      ConditionExpression:
        'attribute_exists(pk) AND attribute_not_exists(creditedMicros) AND #state <> :held',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':held': 'held', ':one': 1 },
    }),
  ]);
}

async function fail(table: Table, id: PaymentId, { state, pause }: FailedEnd): Promise<boolean> {
  return again(async () => {
    const stored = await read(table, id);
    if (stored?.state !== 'open') return false;
    const { kind, accountId, month, amountMicros } = stored;
    const isGivenBack = kind === 'auto' && state !== 'unknown';
    const record = update(table, paymentKey(id), {
      UpdateExpression: 'SET #state = :state, version = version + :one',
      ConditionExpression: '#state = :open AND version = :read',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':state': state, ':open': 'open', ':one': 1, ':read': stored.version },
    });
    const top = update(table, autoTopUpKey(accountId), {
      UpdateExpression: `${pause === undefined ? '' : 'SET paused = :pause, version = version + :one '}${isGivenBack ? 'ADD #reserved :back ' : ''}REMOVE #open`,
      ConditionExpression: '#open = :payment',
      ExpressionAttributeNames: { '#open': 'open', ...(isGivenBack && { '#reserved': reservedName(month) }) },
      ExpressionAttributeValues: {
        ':payment': id,
        ...(isGivenBack && { ':back': 0 - amountMicros }),
        ...(pause !== undefined && { ':pause': pause, ':one': 1 }),
      },
    });
    const refusals = await send(table, kind === 'auto' ? [record, top] : [record]);
    return refusals === undefined ? true : undefined;
  });
}

async function reverse(
  table: Table,
  { id, accountId, version, creditedMicros, reversedMicros }: StripePayment,
  targetMicros: Micros,
  { reason, disputedMicros, pause }: Reversal,
): Promise<boolean> {
  if (creditedMicros === undefined || targetMicros > creditedMicros || targetMicros < 0)
    throw new Error('a payment gives back at most what it credited');
  const amountMicros = asMicros(reversedMicros - targetMicros);
  if (amountMicros === 0) return true;
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
  const top = pause !== undefined && (await readAutoTopUp(table, accountId));
  const paused = top
    ? [
        update(table, autoTopUpKey(accountId), {
          UpdateExpression: 'SET paused = :pause, version = version + :one',
          ExpressionAttributeValues: { ':pause': pause, ':one': 1 },
        }),
      ]
    : [];
  const entry = { kind: 'payment_reversed', amountMicros, payment: id, reason } as const;
  const outcome = await createWalletStore(table).move(accountId, entry, { beside: [record, ...paused] });
  if (outcome.kind === 'out_of_range') throw new Error('an account cannot hold what a payment gives back');
  return outcome.kind === 'applied';
}

/** Works until the records stay as they were read. `undefined`: somebody changed one of them meanwhile. */
async function again<Value>(work: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await work();
    if (value !== undefined) return value;
  }
  throw new Overloaded('the payment stayed busy');
}

const mostTries = 5;

/** Undefined: written. Else why each item was refused. */
async function send(
  table: Table,
  items: readonly TransactItem[],
): Promise<readonly (object | undefined)[] | undefined> {
  const token = Buffer.from(table.randomBytes(16)).toString('hex');
  const outcome = await transact(table, items, token);
  if (outcome.kind === 'overloaded') throw new Overloaded('the payment stayed busy');
  return outcome.kind === 'refused' ? outcome.refusals : undefined;
}

function put(table: Table, item: Item): TransactItem {
  return { Put: { TableName: table.name, Item: item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

type UpdateOf = Omit<NonNullable<TransactItem['Update']>, 'TableName' | 'Key'>;

function update(table: Table, Key: ItemKey, parts: UpdateOf): TransactItem {
  return { Update: { TableName: table.name, Key, ...parts } };
}

function toItem(payment: StripePayment): Item {
  if (!partsOf(payment.id)) throw new Error('a payment has a malformed id');
  return { ...paymentKey(payment.id), ...payment };
}
