import type { KeyId } from '../../../core/ids.ts';
import { asMicros, toUsd } from '../../../core/money.ts';
import type { LedgerPage, LedgerView } from '../../../core/portal/views.ts';
import type { BalancedRow, LedgerPlace } from '../../../core/ports/ledger.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { cursorWords, fromCursor, parametersOf, toCursor } from './parameters.ts';

/** The sort key of a row, which a cursor names. */
export const rowKey = /^LEDGER#\d{4}-\d\d-\d\dT[\d:.]+Z#[a-z_]+#[\w-]+$/;

/** GET /ledger: the newest first, with the balance after each row; ?limit and ?cursor. */
export const listLedger: PortalHandle<'listLedger', ReadServices> = async (
  request,
  { account, nowMillis },
  { ledger, reads },
) => {
  const parameters = parametersOf(request);
  const from = parameters.read('cursor', placeIn, cursorWords);
  const limit = parameters.limit();
  parameters.check();
  const [page, keys] = await Promise.all([
    ledger.page(account.id, limit, nowMillis, from),
    reads.keys(account.id),
  ]);
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  const { availableMicros, creditLineMicros } = account;
  const body: LedgerPage = {
    data: page.rows.map((one) => rowView(one, keyNames)),
    next_cursor: page.next === undefined ? null : toCursor(page.next),
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
    months: monthsSince(account.createdAt, nowMillis),
  };
  return { status: 200, body };
};

function placeIn(text: string): LedgerPlace | undefined {
  const { after, availableMicros } = Object(fromCursor(text)) as Record<keyof LedgerPlace, unknown>;
  if (typeof after !== 'string' || !rowKey.test(after)) return undefined;
  if (availableMicros === undefined) return { after };
  return Number.isSafeInteger(availableMicros)
    ? { after, availableMicros: asMicros(Number(availableMicros)) }
    : undefined;
}

function rowView({ row, availableMicros }: BalancedRow, keyNames: ReadonlyMap<KeyId, string>): LedgerView {
  return {
    at: row.at,
    kind: row.kind,
    amount: toUsd(row.amountMicros),
    available: toUsd(availableMicros),
    creation: row.creationId ?? null,
    key: row.keyId ?? null,
    key_name: (row.keyId && keyNames.get(row.keyId)) ?? null,
    model: row.model ?? null,
    user: row.user ?? null,
    note: noteOf(row),
  };
}

/** The operator's text. The reason of a refund is a word of the service, and is in the creation. */
export function noteOf({ kind, reference, reason }: BalancedRow['row']): string | null {
  return kind === 'refund' ? null : (reason ?? reference ?? null);
}

function monthsSince(createdAt: string, nowMillis: number): string[] {
  const first = createdAt.slice(0, 7);
  const months: string[] = [];
  const now = new Date(nowMillis);
  for (let back = 0; ; back += 1) {
    const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1);
    const month = new Date(begin).toISOString().slice(0, 7);
    if (month < first) return months;
    months.push(month);
  }
}
