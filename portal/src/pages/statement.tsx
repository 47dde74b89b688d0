/** The statement of a month, to read, to print, and as a file. */
import type { StatementView } from '../../../service/contract/portal-views.ts';
import { useResource } from '../api/hooks.ts';
import { setQuery, usePlace } from '../router.ts';
import { Button, Card, Clip, Money, Time } from '../ui/basics.tsx';
import { Select } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { digitsFor } from '../words/figures.ts';
import { download } from './parts/export.tsx';
import { kinds } from './wallet.tsx';

export function Statement() {
  const { query } = usePlace();
  const month = query.get('month') ?? '';
  const statement = useResource('getStatement', { query: { month } });
  const { data } = statement;
  const file = `darkroom-statement-${data?.month ?? ''}`;
  return (
    <Page
      title="Statement"
      lead={data && `${data.account.name}, ${data.month} (UTC)`}
      actions={
        data && (
          <>
            <Button
              text="JSON"
              aria-label="Download JSON"
              onClick={() => download(`${file}.json`, JSON.stringify(data, null, 2), 'application/json')}
            />
            <Button
              text="CSV"
              aria-label="Download CSV"
              onClick={() => download(`${file}.csv`, csvOf(data), 'text/csv;charset=utf-8')}
            />
            <Button text="Print" class="primary" onClick={() => print()} />
          </>
        )
      }
    >
      <Loaded of={statement} rows={8}>
        {(shown) => (
          <>
            <div class="filters">
              <Select
                label="Month"
                value={shown.month}
                options={shown.months.map((value) => ({ value, label: value }))}
                onChange={(value) => setQuery({ month: value })}
              />
            </div>
            <Content of={shown} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** [what, how many, amount] of each line, in the order of the page and of the file. */
type Line = readonly [what: string, count: number | null, amount: number, isSum?: true];

function linesOf(of: StatementView): readonly Line[] {
  const byModel = (what: string, lines: StatementView['charges']): Line[] =>
    lines.map(({ model, count, amount }) => [`${what}: ${model ?? 'unknown model'}`, count, amount]);
  return [
    ['Opening balance', null, of.opening_balance, true],
    ...byModel('Charges', of.charges),
    ...byModel('Refunds', of.refunds),
    ...of.others.map(({ kind, amount }): Line => [kinds[kind], null, amount]),
    ['Closing balance', null, of.closing_balance, true],
  ];
}

/** A text with a comma or a quote stands in quotes. A text that a program would take for a formula gets a "'". */
function csvOf(of: StatementView): string {
  const cell = (text: string): string =>
    `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const lines = linesOf(of).map(([what, count, amount]) =>
    [cell(what), count ?? '', amount.toFixed(6)].join(','),
  );
  return `${['what,count,amount_usd', ...lines].join('\r\n')}\r\n`;
}

function Content({ of }: { of: StatementView }) {
  const lines = linesOf(of);
  const digits = digitsFor(lines.map(([, , amount]) => amount));
  return (
    <>
      {!of.is_final && (
        <p class="notice">
          The month is not over. This counts what came until <Time at={of.until} form="full" />.
        </p>
      )}
      <Table
        caption={`Statement of ${of.month}`}
        rows={lines}
        keyOf={([what]) => what}
        columns={[
          ['Line', ([what, , , isSum]) => (isSum ? <strong>{what}</strong> : <Clip text={what} />)],
          ['Creations', ([, count]) => count?.toLocaleString('en-US') ?? '', 'number'],
          [
            'Amount (USD)',
            ([, , amount, isSum]) => <Money of={amount} digits={digits} signed={isSum !== true} />,
            'number',
          ],
        ]}
      />
      {of.movements.length > 0 && (
        <Card title="Top-ups, payments and adjustments">
          <Table
            caption="Top-ups, payments and adjustments, the oldest first"
            rows={of.movements}
            keyOf={({ at, kind, note }) => [at, kind, note].join(' ')}
            columns={[
              ['Time', ({ at }) => <Time at={at} form="full" />],
              ['Movement', ({ kind }) => kinds[kind]],
              ['Reference', ({ note }) => <Clip text={note ?? ''} />],
              ['Amount', ({ amount }) => <Money of={amount} digits={digits} signed />, 'number'],
            ]}
          />
        </Card>
      )}
    </>
  );
}
