/** Lines of CSV by RFC 4180, for a spreadsheet or a program. */
import { toUsd, type Micros } from './money.ts';

/** A text, a number, an amount of money, or nothing. */
export type Cell = string | number | null | { readonly usd: Micros };

/**
 * A spreadsheet takes a text that begins with one of the first characters for a formula. The ' is in the list
 * as well, so that a reader gets each text back: it removes one ' from the beginning.
 */
const startsLikeFormula = /^[=+\-@\t\r＝＋－＠']/u;
const needsQuotes = /[",\r\n]/u;

/** One line without its end, which is CR LF. A text of a client never becomes a formula. */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',');
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  if (typeof cell === 'object') return toUsd(cell.usd).toFixed(6);
  const text = startsLikeFormula.test(cell) ? `'${cell}` : cell;
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The value of a cell in JSON or in a table. Money is a number in USD. */
export function plainCell(cell: Cell): string | number | null {
  return typeof cell === 'object' && cell !== null ? toUsd(cell.usd) : cell;
}
