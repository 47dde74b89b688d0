/** Amounts in USD. At least two digits after the decimal point, and as many as the amount has. */
const most = 6;

/** How many digits after the decimal point an amount has: 2 to 6. */
function digitsOf(amount: number): number {
  const text = amount.toFixed(most).replace(/0+$/, '');
  return Math.max(2, text.length - text.indexOf('.') - 1);
}

/** The digits that a column needs, so that its points stand below each other. */
export const digitsFor = (amounts: readonly number[]): number => Math.max(2, ...amounts.map(digitsOf));

export function money(amount: number, digits = digitsOf(amount)): string {
  const text = Math.abs(amount).toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${amount < 0 ? '−' : ''}$${text}`;
}

/** With a sign in front, for movements. */
export const movement = (amount: number, digits?: number): string =>
  amount > 0 ? `+${money(amount, digits)}` : money(amount, digits);

/** What a person typed, or undefined when it is no amount. An empty text is null: no limit. */
export function parseAmount(text: string): number | null | undefined {
  const trimmed = text.trim().replace(/^\$/, '');
  if (trimmed === '') return null;
  return /^\d+(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : undefined;
}
