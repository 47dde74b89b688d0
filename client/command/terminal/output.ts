/** Prints a command's answer: as a table for a person, or as one JSON document for a program. */
import terminalColors from 'picocolors';
import { visibleJson, visibleText } from './visible-text.ts';

type Colors = Pick<typeof terminalColors, 'dim' | 'yellow'>;

export type Row = Readonly<Record<string, unknown>>;

export interface Output {
  /** Prints one thing, with one line for each field. */
  show(value: Row, note?: string): void;
  /** Prints several things, with one line for each. The JSON document is {data: [...]}. */
  list(rows: readonly Row[], whenEmpty: string): void;
  /** The same for things that come page by page. The columns are as wide as the first page needs. */
  pages(pages: AsyncIterable<readonly Row[]>, whenEmpty: string): Promise<void>;
  /** Prints a line of JSON for each. */
  jsonLines(rows: readonly Row[]): void;
  /** Prints one document as JSON: with indents for a person who keeps it as a file. */
  document(value: Row): void;
  /** Prints lines of CSV. Each ends with CR LF. */
  csv(lines: readonly string[]): void;
}

/**
 * Many values come from clients and vendors, so control characters in them are printed as escapes.
 * @param columns how wide the terminal is. A wider table becomes records with one line for each field, so that no
 *   value is cut. Absent: there is no terminal, and a table has the width that it needs.
 */
export function createOutput(
  json: boolean,
  print: (line: string) => void,
  pc: Colors = terminalColors,
  columns = Infinity,
): Output {
  const csv = (lines: readonly string[]): void => {
    for (const line of lines) print(`${visibleText(line)}\r`);
  };
  const jsonLines = (rows: readonly Row[]): void => {
    for (const row of rows) print(visibleJson(row));
  };
  if (json) {
    return {
      csv,
      jsonLines,
      pages: async (pages) => {
        // A document on several lines, so that not all rows are in memory.
        let before = '{"data":[';
        for await (const rows of pages)
          for (const row of rows) {
            print(`${before}${visibleJson(row)}`);
            before = ',';
          }
        print(before === ',' ? ']}' : `${before}]}`);
      },
      show: (value) => print(visibleJson(value)),
      document: (value) => print(visibleJson(value)),
      list: (rows) => print(visibleJson({ data: rows })),
    };
  }
  return {
    csv,
    jsonLines,
    pages: async (pages, whenEmpty) => {
      let widths: readonly number[] | undefined;
      for await (const rows of pages) {
        if (rows.length === 0) continue;
        const isFirst = widths === undefined;
        widths ??= widthsOf(rows);
        const lines = linesOf(rows, pc, columns, widths);
        const isTable = widthOf(widths) <= columns;
        for (const line of isFirst ? lines : isTable ? lines.slice(1) : ['', ...lines]) print(line);
      }
      if (!widths) print(pc.dim(visibleText(whenEmpty)));
    },
    show: (value, note) => {
      for (const line of fieldLines(value, pc)) print(line);
      if (note !== undefined) print(`\n${pc.yellow(visibleText(note))}`);
    },
    document: (value) => {
      for (const line of JSON.stringify(value, null, 2).split('\n')) print(visibleText(line));
    },
    list: (rows, whenEmpty) => {
      for (const line of rows.length === 0
        ? [pc.dim(visibleText(whenEmpty))]
        : linesOf(rows, pc, columns, widthsOf(rows)))
        print(line);
    },
  };
}

function fieldLines(value: Row, pc: Colors): string[] {
  const width = Math.max(...Object.keys(value).map((name) => name.length));
  return Object.entries(value).map(([name, field]) => `${pc.dim(name.padEnd(width))}  ${text(field)}`);
}

/** A table, or records with an empty line between them. */
function linesOf(rows: readonly Row[], pc: Colors, columns: number, widths: readonly number[]): string[] {
  if (widthOf(widths) <= columns) return tableLines(rows, pc, widths);
  return rows.flatMap((row, place) => [...(place === 0 ? [] : ['']), ...fieldLines(row, pc)]);
}

/** Two spaces separate the columns. */
function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 2, -2);
}

/** The widths of the columns of these rows. */
function widthsOf(rows: readonly Row[]): readonly number[] {
  return Object.keys(rows[0] ?? {}).map((name) =>
    rows.reduce((width, row) => Math.max(width, text(row[name]).length), name.length),
  );
}

function tableLines(rows: readonly Row[], pc: Colors, widths: readonly number[]): string[] {
  const names = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => names.map((name) => text(row[name])));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [pc.dim(line(names)), ...cells.map(line)];
}

function text(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.length === 0 ? '-' : visibleText(value.join(', '));
  return typeof value === 'string' ? visibleText(value) : visibleJson(value);
}
