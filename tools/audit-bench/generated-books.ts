/**
 * Books of any size, which are computed and not stored. A creation has a number, and its ledger rows and its
 * record follow from the number. Every eighth creation failed and was refunded a second after its charge.
 */
import type { CreationId } from '../../core/ids.ts';

type Item = Readonly<Record<string, unknown>>;

export interface BooksSize {
  readonly creations: number;
  readonly accounts: number;
}

const firstMillis = Date.UTC(2026, 9, 1);
/** A charge every two seconds, so that each refund follows its charge. */
const betweenMillis = 2_000;
const refundMillis = 1_000;
const costMicros = 40_000;
const openingMicros = 1_000_000_000_000;
const keyId = 'Key001';
const failsEvery = 8;
const prompt = 'a lake between two mountains on an evening in October, with a small boat and its reflection';

export interface GeneratedBooks {
  accountItem(account: number): Item;
  keyItem(account: number): Item;
  accountListed(account: number): Item;
  /** How many rows the ledger of an account has. */
  rows(): number;
  ledgerRow(account: number, row: number): Item;
  /** The first row at this sort key or after it. */
  rowFrom(sortKey: string): number;
  creationsEach: number;
  creationListed(account: number, creation: number): Item;
  /** The creation with this id, counted in its account. */
  creationFrom(id: string): number;
  creationItem(id: string): Item | undefined;
}

/** @param wrong the account whose balance is a cent too high */
export function generateBooks({ creations, accounts }: BooksSize, wrong: number): GeneratedBooks {
  const creationsEach = Math.ceil(creations / accounts);
  const failed = Math.ceil(creationsEach / failsEvery);
  // Of each eight creations: the charge and the refund of the failed one, and seven charges.
  const rowsOfEight = failsEvery + 1;
  const rows = 1 + creationsEach + failed;
  const spentMicros = (creationsEach - failed) * costMicros;
  const createdMillis = (creation: number): number => firstMillis + creation * betweenMillis;
  const time = (millis: number): string => new Date(millis).toISOString();
  const accountId = (account: number): string => `Bench${String(account).padStart(5, '0')}`;
  const accountKey = (account: number): string => `ACCOUNT#${accountId(account)}`;
  const idOf = (account: number, creation: number): CreationId => {
    const millis = createdMillis(creation).toString(16).padStart(12, '0');
    const random = account.toString(16).padStart(12, '0');
    return `${millis.slice(0, 8)}-${millis.slice(8)}-7000-8000-${random}` as CreationId;
  };
  const rowOf = (row: number): { creation: number; kind: 'charge' | 'refund' } => {
    const [group, place] = [Math.floor((row - 1) / rowsOfEight), (row - 1) % rowsOfEight];
    const creation = group * failsEvery + Math.max(0, place - 1);
    return { creation, kind: place === 1 ? 'refund' : 'charge' };
  };
  const ledgerKey = (account: number, row: number): string => {
    if (row === 0) return `LEDGER#${time(firstMillis - 1)}#top_up#opening`;
    const { creation, kind } = rowOf(row);
    const at = createdMillis(creation) + (kind === 'refund' ? refundMillis : 0);
    return `LEDGER#${time(at)}#${kind}#${idOf(account, creation)}`;
  };
  const firstAtLeast = (count: number, isBehind: (place: number) => boolean): number => {
    let [from, to] = [0, count];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if (isBehind(middle)) to = middle;
      else from = middle + 1;
    }
    return from;
  };

  return {
    creationsEach,
    rows: () => rows,
    accountItem: (account) => ({
      pk: accountKey(account),
      sk: 'ACCOUNT',
      availableMicros: openingMicros - spentMicros + (account === wrong ? 10_000 : 0),
      creditLineMicros: 0,
      inFlight: 0,
    }),
    keyItem: (account) => {
      const months: Record<string, number> = {};
      for (let creation = 0; creation < creationsEach; creation += 1) {
        if (creation % failsEvery === 0) continue;
        const name = `spent_${time(createdMillis(creation)).slice(0, 7).replace('-', '_')}`;
        months[name] = (months[name] ?? 0) + costMicros;
      }
      return { pk: accountKey(account), sk: `KEY#${keyId}`, id: keyId, name: 'server', ...months };
    },
    accountListed: (account) => ({
      pk: accountKey(account),
      sk: 'ACCOUNT',
      listing: 'ACCOUNTS',
      listed: `${time(firstMillis)}#${accountId(account)}`,
    }),
    ledgerRow: (account, row) => {
      const key = { pk: accountKey(account), sk: ledgerKey(account, row) };
      const at = key.sk.split('#')[1];
      if (row === 0) return { ...key, kind: 'top_up', amountMicros: openingMicros, at, reference: 'opening' };
      const { creation, kind } = rowOf(row);
      return {
        ...key,
        kind,
        amountMicros: kind === 'charge' ? 0 - costMicros : costMicros,
        at,
        creationId: idOf(account, creation),
        keyId,
        month: time(createdMillis(creation)).slice(0, 7).replace('-', '_'),
        model: 'flux-2-pro',
        requestId: idOf(account, creation),
      };
    },
    rowFrom: (sortKey) => firstAtLeast(rows, (row) => ledgerKey(0, row) >= sortKey),
    creationListed: (account, creation) => {
      const id = idOf(account, creation);
      const listing = `CREATIONS#${accountId(account)}`;
      return { pk: `CREATION#${id}`, sk: 'CREATION', listing, listed: id };
    },
    creationFrom: (id) => firstAtLeast(creationsEach, (creation) => idOf(0, creation) > id),
    creationItem: (id) => {
      const millis = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
      const creation = (millis - firstMillis) / betweenMillis;
      if (!Number.isInteger(creation) || creation < 0 || creation >= creationsEach) return undefined;
      const isFailed = creation % failsEvery === 0;
      return {
        id,
        status: isFailed ? 'failed' : 'completed',
        costMicros,
        refundedMicros: isFailed ? costMicros : 0,
        createdAt: time(millis),
        prompt,
      };
    },
  };
}
