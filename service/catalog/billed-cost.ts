/** What a vendor bills by its own answer, for the operator. A figure that makes no sense is left out. */
import { asMicros, type Micros, microsPerUsd } from '../values/money.ts';

/** USD for a million tokens of each kind. `text_out` is null where the vendor sells no text. */
export interface TokenPrices {
  readonly text_in: number;
  readonly image_in: number;
  readonly image_out: number;
  readonly text_out: number | null;
}

/** The tokens of a request, as the answer reports them. Nothing about them is certain. */
export type TokenCounts = Readonly<Record<keyof TokenPrices, unknown>>;

/** How a picture of the route is billed. Absent members: the answer's figures cannot be turned into money. */
export interface BillingPrices {
  readonly tokenPrices?: TokenPrices;
  /** Micro-dollars of one unit, for a vendor that says how many it bills: megapixels, seconds, credits. */
  readonly unitMicros?: Micros;
}

/** No picture costs a hundredth of this. A larger figure is a mistake or a change of unit. */
const mostMicros = 100 * microsPerUsd;

/** An amount in USD from an answer. Undefined: it is no number, is below zero, or is too large to be true. */
export function billedUsd(usd: unknown): Micros | undefined {
  return isCount(usd) ? billed(usd * microsPerUsd) : undefined;
}

/** A number of units from an answer, or its text, such as "1.5". */
export function billedUnits(units: unknown, unitMicros: Micros | undefined): Micros | undefined {
  const count = typeof units === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(units) ? Number(units) : units;
  return unitMicros !== undefined && isCount(count) ? billed(count * unitMicros) : undefined;
}

/** A picture consists of tokens, so an answer that counts none for it is not believed. */
export function billedTokens(counts: TokenCounts, prices: TokenPrices | undefined): Micros | undefined {
  const { text_in: textIn, image_in: imageIn, image_out: imageOut, text_out: textOut } = counts;
  if (!prices || !isCount(textIn) || !isCount(imageIn) || !isCount(imageOut) || !isCount(textOut))
    return undefined;
  if (imageOut === 0 || (textOut > 0 && prices.text_out === null)) return undefined;
  // USD for a million tokens are micro-dollars for one.
  return billed(
    textIn * prices.text_in +
      imageIn * prices.image_in +
      imageOut * prices.image_out +
      textOut * (prices.text_out ?? 0),
  );
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function billed(micros: number): Micros | undefined {
  return micros <= mostMicros ? asMicros(Math.round(micros)) : undefined;
}
