/**
 * A thread of large-books.test.ts: audits the books of one account with so many creations. The books are computed and
 * not stored: a charge every two seconds, and every eighth creation is refunded a second later.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { auditAccount } from '../../service/audit/audit-accounts.ts';
import type { BooksReader } from '../../service/audit/books-reads.ts';
import type { AuditedCreation, PlacedRow } from '../../service/audit/books.ts';
import type { AccountId, CreationId, KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';

const creations = Number(workerData);
const costMicros = asMicros(40_000);
const wrongMicros = 10_000;
const pageSize = 500;
const firstMillis = Date.UTC(2026, 9, 1);
const betweenMillis = 2_000;
const refundMillis = 1_000;
const keyId = 'Key001' as KeyId;

const timeOf = (number: number): string => new Date(firstMillis + number * betweenMillis).toISOString();
const isRefunded = (number: number): boolean => number % 8 === 0;
const idOf = (number: number): CreationId => {
  const millis = (firstMillis + number * betweenMillis).toString(16).padStart(12, '0');
  return `${millis.slice(0, 8)}-${millis.slice(8)}-7000-8000-000000000000` as CreationId;
};
const numberOf = (id: CreationId): number =>
  (Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - firstMillis) / betweenMillis;
const monthOf = (number: number): string => timeOf(number).slice(0, 7).replace('-', '_');

function rowsOf(number: number): PlacedRow[] {
  const row = { creationId: idOf(number), keyId, month: monthOf(number) };
  const at = timeOf(number);
  const backAt = new Date(Date.parse(at) + refundMillis).toISOString();
  const charge = { ...row, kind: 'charge' as const, amountMicros: asMicros(0 - costMicros), at };
  const refund = { ...row, kind: 'refund' as const, amountMicros: costMicros, at: backAt };
  return [
    { place: `${at}#charge`, row: charge },
    ...(isRefunded(number) ? [{ place: `${backAt}#refund`, row: refund }] : []),
  ];
}

function recordOf(id: CreationId): AuditedCreation {
  const number = numberOf(id);
  const refunded = isRefunded(number);
  const status = refunded ? 'failed' : 'completed';
  const refundedMicros = asMicros(refunded ? costMicros : 0);
  return { id, status, costMicros, refundedMicros, createdAt: timeOf(number) };
}

async function* pages<Entry>(from: number, entriesOf: (number: number) => Entry[]): AsyncGenerator<Entry[]> {
  for (let first = from; first < creations; first += pageSize) {
    const count = Math.min(pageSize, creations - first);
    yield Promise.resolve(Array.from({ length: count }, (_, index) => entriesOf(first + index)).flat());
  }
}

const spent: Record<string, number> = {};
for (let number = 0; number < creations; number += 1)
  if (!isRefunded(number)) spent[monthOf(number)] = (spent[monthOf(number)] ?? 0) + costMicros;
const spentMicros = Object.values(spent).reduce((sum, micros) => sum + micros, 0);

const books: BooksReader = {
  accounts: () => pages(creations, () => []),
  ledger: (_account, from) =>
    pages(from ? Math.max(0, numberOfTime(from)) : 0, (number) =>
      rowsOf(number).filter(({ place }) => place >= (from ?? '')),
    ),
  listed: (_account, after) =>
    pages(after === undefined ? 0 : numberOf(after) + 1, (number) => [idOf(number)]),
  creations: (ids) => Promise.resolve(ids.map(recordOf)),
  sums: () =>
    Promise.resolve({
      availableMicros: asMicros(wrongMicros - spentMicros),
      creditLineMicros: asMicros(0),
      inFlight: 0,
      keys: [{ id: keyId, spent: spent as Record<string, typeof costMicros>, spentByDay: {} }],
    }),
  userCounters: () => Promise.resolve([]),
  inFlight: () => Promise.resolve(0),
  placeOf: (millis) => new Date(millis).toISOString(),
};

function numberOfTime(place: string): number {
  return Math.floor((Date.parse(place.slice(0, 24)) - firstMillis) / betweenMillis);
}

parentPort?.postMessage(
  await auditAccount('Large' as AccountId, {
    books,
    closings: { use: 'compared', read: () => Promise.resolve([]) },
    nowMillis: () => firstMillis + (creations + 100_000) * betweenMillis,
    pause: () => Promise.resolve(),
    isTimeUp: () => false,
  }),
);
