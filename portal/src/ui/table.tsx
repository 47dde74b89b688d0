/** A table: a caption, scopes, columns that a phone leaves out, and pages. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Rows } from '../api/hooks.ts';
import { Loaded } from './states.tsx';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** True: numbers, which stand at the right. */
  readonly isNumber?: boolean;
  /** True: a sentence, which gets room. */
  readonly isText?: boolean;
  /** True: a narrow screen leaves the column out. */
  readonly isWide?: boolean;
  /** True: the heading is for screen readers only. */
  readonly isPlain?: boolean;
}

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  foot,
  stacks,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  foot?: ComponentChildren;
  /** True: on a narrow screen a row becomes a block, so that its actions are at hand. */
  stacks?: boolean;
}) {
  const id = useId();
  const classOf = ({ isNumber, isText, isWide }: Column<Row>): string =>
    [isNumber === true && 'number', isText === true && 'sentence', isWide === true && 'wide']
      .filter((name) => name !== false)
      .join(' ');
  return (
    <div class={stacks === true ? 'table stacks' : 'table'} role="region" aria-labelledby={id} tabIndex={0}>
      <table role="table">
        <caption id={id}>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.head} role="columnheader" scope="col" class={classOf(column)}>
                {column.isPlain === true ? <span class="hidden">{column.head}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.head} role="rowheader" scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.head} role="cell" class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
        {foot !== undefined && <tfoot>{foot}</tfoot>}
      </table>
    </div>
  );
}

/** A list with its states, and a button for the next page. */
export function List<Row>({
  of,
  empty,
  children,
}: {
  of: Rows<Row>;
  empty: ComponentChildren;
  children: (rows: readonly Row[]) => ComponentChildren;
}) {
  return (
    <Loaded of={of}>
      {(rows) => (
        <>
          {rows.length === 0 && !of.hasMore ? empty : children(rows)}
          {of.hasMore && (
            <div class="more">
              <button type="button" aria-busy={of.isLoading} onClick={of.more}>
                {of.isLoading ? 'Loading…' : 'Show more'}
              </button>
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}
