/** What the invariants of payments read of items. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Change } from '../aws/simulated-table.ts';
import { textOf } from './money-books.ts';

export const numberIn = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);

/** What the commits say of a payment. */
export interface PaymentBook {
  readonly id: string;
  readonly account: string;
  readonly kind: string;
  readonly amountMicros: number;
  /** The month in which it began, by its id. */
  readonly month: string;
  state: string;
  credits: number;
  creditedMicros: number;
  reversedMicros: number;
}

/** The payment of an item, by its key. */
export function paymentIdOf({ pk, sk }: Pick<Change, 'pk' | 'sk'>): string {
  return `pay_${pk.slice('ACCOUNT#'.length)}_${sk.slice('PAYMENT#'.length)}`;
}

/** When an id was made: the first 48 bits of a UUIDv7. */
export function madeAt(id: string): number {
  return Number.parseInt((id.split('_')[2] ?? '').replaceAll('-', '').slice(0, 12), 16);
}

export function isOfStripe(item: Item | undefined): boolean {
  const kind = textOf(item, 'kind');
  return kind === 'checkout' || kind === 'auto';
}
