/** A payment that a payment system of the operator took. */
import { type AccountId, parseAccountId, timeOfUuidV7, uuidV7 } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';

/** `pay_`, the account and a UUIDv7: the id alone finds the item. */
export type PaymentId = `pay_${string}`;

export interface Payment {
  readonly id: PaymentId;
  readonly accountId: AccountId;
  readonly reference: string;
  readonly creditedMicros: Micros;
  readonly reversedMicros: Micros;
  /** The payment system, such as "adyen". */
  readonly source?: string;
  readonly note?: string;
  /** RFC 3339. */
  readonly at: string;
  /** The id of the operator key. */
  readonly by: string;
}

export function newPaymentId(account: AccountId, nowMillis: number, randomBytes: Uint8Array): PaymentId {
  return `pay_${account}_${uuidV7(nowMillis, randomBytes)}`;
}

/** The account and the UUID of an id. Undefined when the text is no id of a payment. */
export function partsOf(text: string): { readonly account: AccountId; readonly uuid: string } | undefined {
  const [prefix, account = '', uuid = '', ...more] = text.split('_');
  const accountId = parseAccountId(account);
  const isPayment = prefix === 'pay' && more.length === 0 && timeOfUuidV7(uuid) !== undefined;
  return isPayment && accountId ? { account: accountId, uuid } : undefined;
}

/** The id of a payment of this account. Undefined when the text is another one. */
export function parsePaymentId(text: string, account: AccountId): PaymentId | undefined {
  return partsOf(text)?.account === account ? (text as PaymentId) : undefined;
}
