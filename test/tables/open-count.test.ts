import { describe, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { createCreationStore } from '../../service/creations/creation-store.ts';
import { countOpen } from '../../service/creations/service-state-store.ts';
import { fakeClock } from '../api/fakes.ts';
import { aCreation, creationId, now, storedImage } from '../fixtures/records.ts';

/** A table whose calls have these outcomes, one after the other, and the names of its calls. */
function tableThat(...outcomes: readonly (Error | undefined)[]): { table: Table; calls: string[] } {
  const calls: string[] = [];
  const left = [...outcomes];
  const send = ({ constructor: { name } }: object): Promise<unknown> => {
    calls.push(name);
    const error = left.shift();
    return error ? Promise.reject(error) : Promise.resolve({});
  };
  const randomBytes = (count: number): Uint8Array => new Uint8Array(count);
  const client = { send } as unknown as Table['client'];
  return { table: { client, name: 'table', clock: fakeClock(), randomBytes }, calls };
}

const done = { results: [storedImage], resultsExpireAt: now, attempts: [], nowMillis: now };

describe('the counters of open creations', () => {
  it('A change that fails does not fail its caller', async () => {
    const { table, calls } = tableThat(new Error('denied'));
    await countOpen(table, creationId, 1);
    expect(calls).toEqual(['UpdateCommand']);
  });

  it('A creation whose end cannot be counted has ended', async () => {
    const { table, calls } = tableThat(undefined, new Error('denied'));
    expect(await createCreationStore(table).complete(aCreation(), done)).toBe('completed');
    expect(calls).toEqual(['TransactWriteCommand', 'UpdateCommand']);
  });

  it('An end that fails is not counted', async () => {
    const { table, calls } = tableThat(new Error('denied'));
    await expect(createCreationStore(table).complete(aCreation(), done)).rejects.toThrow('denied');
    expect(calls).toEqual(['TransactWriteCommand']);
  });
});
