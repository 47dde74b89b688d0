/** An account in memory, whose money can move between any two reads of the audit. */
import { userHash } from '../../service/accounts/end-user.ts';
import type { LedgerRow } from '../../service/accounts/account.ts';
import type { BooksReader } from '../../service/audit/books-reads.ts';
import type { AuditedCreation, PlacedRow } from '../../service/audit/books.ts';
import { type CreationId, timeOfUuidV7, uuidV7 } from '../../service/values/ids.ts';
import { asMicros, type Micros } from '../../service/values/money.ts';
import { monthOf } from '../../service/values/time.ts';
import { accountId, keyId } from '../fixtures/records.ts';

const startMillis = Date.UTC(2026, 10, 21, 12);
export const costMicros = 40_000;
const rowsOfPage = 10;
const user = 'customer 7';

export interface WorkingAccount {
  readonly books: BooksReader;
  nowMillis(): number;
  /** Goes on at this time. */
  setNow(millis: number): void;
  charge(): CreationId;
  complete(id: CreationId): void;
  refund(id: CreationId): void;
  /** Writes a row that no sum knows. */
  addRow(row: Partial<LedgerRow>): void;
  /** Changes a row that is stored, by its number. */
  changeRow(number: number, change: Partial<LedgerRow>): void;
  /** The next reads of the ledger that are not consistent miss the row with this number. */
  hideRow(number: number): void;
  /** Changes the stored sums past the ledger. */
  add(change: { readonly availableMicros?: number; readonly inFlight?: number }): void;
  /** Is called after each read, with the number of reads so far. */
  afterRead: (reads: number) => void;
  reads(): number;
}

/** Each movement takes a second, and changes everything at once as a transaction does. */
export function workingAccount(): WorkingAccount {
  let now = startMillis;
  let availableMicros = 0;
  let inFlight = 0;
  const spent: Record<string, number> = {};
  let reads = 0;
  let hidden: string | undefined;
  const ledger: PlacedRow[] = [];
  const creations = new Map<CreationId, AuditedCreation>();
  const placeOf = (millis: number): string => `LEDGER#${new Date(millis).toISOString()}`;

  const write = (row: Partial<LedgerRow>): void => {
    now += 1_000;
    const at = new Date(now).toISOString();
    const place = `${placeOf(now)}#${row.kind}#${row.creationId}`;
    const added = { place, row: { kind: 'charge', amountMicros: asMicros(0), keyId, at, ...row } } as const;
    ledger.splice(ledger.findLastIndex((one) => one.place < place) + 1, 0, added);
  };
  const book = (kind: 'charge' | 'refund', id: CreationId): void => {
    const amount = kind === 'charge' ? 0 - costMicros : costMicros;
    availableMicros += amount;
    const month = monthOf(timeOfUuidV7(id) ?? NaN);
    spent[month] = (spent[month] ?? 0) - amount;
    const names = { creationId: id, month, user, countedForUser: true } as const;
    write({ kind, amountMicros: asMicros(amount), ...names });
  };
  const end = (id: CreationId, status: 'completed' | 'failed'): void => {
    inFlight -= 1;
    const refundedMicros = asMicros(status === 'failed' ? costMicros : 0);
    const { dueAt: _dueAt, ...record } = recordOf(id);
    creations.set(id, { ...record, status, refundedMicros });
  };
  const recordOf = (id: CreationId): AuditedCreation => {
    const record = creations.get(id);
    if (!record) throw new Error(`no creation ${id}`);
    return record;
  };
  const read = async <Answer>(answer: () => Answer): Promise<Answer> => {
    const value = answer();
    reads += 1;
    account.afterRead(reads);
    return Promise.resolve(value);
  };
  async function* pagesOf<One>(size: number, after: (page: readonly One[]) => readonly One[]) {
    // As in DynamoDB, a page that is not full is the last one.
    for (let last: readonly One[] = []; ;) {
      const page = await read(() => after(last).slice(0, size));
      yield page;
      if (page.length < size) return;
      last = page;
    }
  }

  const account: WorkingAccount = {
    nowMillis: () => now,
    setNow: (millis) => void (now = millis),
    charge: () => {
      const id = uuidV7(now + 1_000, new Uint8Array(16).fill(creations.size)) as CreationId;
      book('charge', id);
      inFlight += 1;
      const createdAt = new Date(now).toISOString();
      const cost = { costMicros: asMicros(costMicros), refundedMicros: asMicros(0) };
      creations.set(id, { id, status: 'queued', ...cost, dueAt: now, createdAt });
      return id;
    },
    complete: (id) => end(id, 'completed'),
    refund: (id) => {
      end(id, 'failed');
      book('refund', id);
    },
    addRow: write,
    changeRow: (number, change) => {
      const { place, row } = ledger[number] as PlacedRow;
      ledger[number] = { place, row: { ...row, ...change } };
    },
    hideRow: (number) => void (hidden = ledger[number]?.place),
    add: (change) => {
      availableMicros += change.availableMicros ?? 0;
      inFlight += change.inFlight ?? 0;
    },
    afterRead: () => undefined,
    reads: () => reads,
    books: {
      accounts: () => pagesOf(2, () => [{ id: accountId, place: 'only' }]),
      ledger: (_account, from, settledMillis) =>
        pagesOf(rowsOfPage, (page: readonly PlacedRow[]) => {
          const last = page.at(-1)?.place;
          const settled = placeOf(settledMillis ?? 0);
          return ledger
            .filter(({ place }) => place >= (from ?? '') && (last === undefined || place > last))
            .filter(({ place }) => place !== hidden || place >= settled);
        }),
      listed: (_account, after) =>
        pagesOf(rowsOfPage, (page: readonly CreationId[]) => {
          const last = page.at(-1) ?? after;
          return [...creations.keys()].filter((id) => last === undefined || id > last);
        }),
      creations: async (ids) => read(() => ids.flatMap((id) => creations.get(id) ?? [])),
      sums: async () =>
        read(() => ({
          availableMicros: asMicros(availableMicros),
          creditLineMicros: asMicros(0),
          inFlight,
          keys: [{ id: keyId, spent: spent as Record<string, Micros>, spentByDay: {} }],
        })),
      userCounters: async () =>
        read(() =>
          Object.entries(spent).map(([month, micros]) => ({
            keyId,
            month,
            userHash: userHash(user),
            spentMicros: asMicros(micros),
          })),
        ),
      inFlight: async () => read(() => inFlight),
      placeOf,
    },
  };
  return account;
}
