/** Tables and numbers in Markdown. */

export const usd = (amount: number, decimals = 4): string => amount.toFixed(decimals);
export const count = (value: number): string => String(Math.round(value * 100) / 100);

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_cell, index) => (index === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}
