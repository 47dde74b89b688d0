declare const micros: unique symbol;
/** Integer micro-dollars: 1 USD = 1,000,000. All money inside Darkroom is this. */
export type Micros = number & { readonly [micros]: true };

const microsPerUsd = 1_000_000;
const largestUsd = 1_000_000_000;
/** The most that an operator can give an account to spend: 10^9 USD, far from where sums stop being exact. */
export const largestAvailableMicros = (largestUsd * microsPerUsd) as Micros;

/** Marks an integer as micro-dollars. Throws when it is no safe integer: such a sum is a defect. */
export function asMicros(value: number): Micros {
  if (!Number.isSafeInteger(value)) throw new Error(`not a whole number of micro-dollars: ${value}`);
  return value as Micros;
}

/** The USD number shown at the edge; at most 6 decimals, exact for every sum below 10^9 USD. */
export function toUsd(amount: Micros): number {
  return amount / microsPerUsd;
}

/**
 * Micro-dollars of an amount in USD, as typed by an operator or written in the catalog.
 * Undefined when it is no finite decimal number, has more than 6 decimals, or exceeds 10^9 USD.
 */
export function parseUsd(text: string): Micros | undefined {
  const match = /^(-?)(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  const value = Number(whole) * microsPerUsd + Number(fraction.padEnd(6, '0'));
  if (value > largestUsd * microsPerUsd) return undefined;
  return asMicros(sign === '-' && value !== 0 ? -value : value);
}

/** Micro-dollars of a USD number that was written by us. Throws when it has more than 6 decimals. */
export function fromUsd(usd: number): Micros {
  const value = Math.round(usd * microsPerUsd);
  if (Math.abs(value / microsPerUsd - usd) > 1e-9) throw new Error(`more than 6 decimals: ${usd}`);
  return asMicros(value);
}

/** A sum for people: at least two decimals, never more than needed, "0.04 USD". */
export function formatUsd(amount: Micros): string {
  const [whole = '0', fraction = ''] = toUsd(amount).toFixed(6).split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')} USD`;
}
