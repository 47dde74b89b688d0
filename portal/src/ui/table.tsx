/** A table: a caption, scopes, columns that a phone leaves out, and pages. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Rows } from '../api/hooks.ts';
import { Loaded } from './states.tsx';
import { Button } from './basics.tsx';

/**
 * A heading, a cell, and the classes of both. number: it stands at the right. sentence: it gets room. wide: a narrow
 * screen leaves it out. actions: buttons, whose heading is for screen readers only.
 */
export type Column<Row> = readonly [
  head: string,
  cell: (row: Row) => ComponentChildren,
  form?: 'number' | 'number wide' | 'sentence' | 'wide' | 'actions',
];

export function Table<Row>(props: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  foot?: ComponentChildren;
  /** True: on a narrow screen a row becomes a block, so that its actions are at hand. */
  stacks?: boolean;
}) {
  const { caption, columns, rows, keyOf, foot, stacks } = props;
  const id = useId();
  const classOf = (form = ''): string => (form === 'actions' ? 'number' : form);
  return (
    <div class={stacks === true ? 'table stacks' : 'table'} role="region" aria-labelledby={id} tabIndex={0}>
      <table role="table">
        <caption id={id}>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(([head, , form]) => (
              <th key={head} role="columnheader" scope="col" class={classOf(form)}>
                {form === 'actions' ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row" data-row={keyOf(row)}>
              {columns.map(([head, cell, form], index) =>
                index === 0 ? (
                  <th key={head} role="rowheader" scope="row" class={classOf(form)}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={head} role="cell" class={classOf(form)}>
                    {cell(row)}
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
export function List<Row>(props: {
  of: Rows<Row>;
  empty: ComponentChildren;
  children: (rows: readonly Row[]) => ComponentChildren;
}) {
  const { of, empty, children } = props;
  return (
    <Loaded of={of}>
      {(rows) => (
        <>
          {rows.length === 0 && !of.hasMore ? empty : children(rows)}
          {of.hasMore && (
            <div class="more">
              <Button
                text={of.isLoading ? 'Loading…' : 'Show more'}
                isBusy={of.isLoading}
                onClick={of.more}
              />
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}
