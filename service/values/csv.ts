/** Lines of CSV by RFC 4180, for a spreadsheet or a program. */
import { type Micros, toUsd } from './money.ts';

/** A text, a number, an amount of money, or nothing. */
export type Cell = string | number | null | { readonly usd: Micros };

/**
 * A spreadsheet reads a text that begins with one of these signs as a formula. In many countries it separates
 * cells by ";", and then ignores the quotes of every cell but the first. So a formula can also begin after a
 * separator inside a text. A ' is inserted before each such sign. The ' is itself one of the signs, so that a
 * reader can restore each text: it removes one ' from the beginning, and one after each separator.
 */
const beginsLikeFormula = /(^|[;,|\t\r\n])(?="*[=+\-@＝＋－＠'])/gu;
const needsQuotes = /[",;|\t\r\n]/u;

/** One line without its end, which is CR LF. A text of a client never becomes a formula. */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',');
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  if (typeof cell === 'object') return toUsd(cell.usd).toFixed(6);
  const text = cell.replaceAll(beginsLikeFormula, "$1'");
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The value of a cell in JSON or in a table. Money is a number in USD. */
export function plainCell(cell: Cell): string | number | null {
  return typeof cell === 'object' && cell !== null ? toUsd(cell.usd) : cell;
}
