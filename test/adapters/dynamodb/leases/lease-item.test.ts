/** The item of a lease on the simulation's table: what is written, what it costs, and when it goes away. */
import { expect, it } from 'vitest';
import { createCreationStore } from '../../../../adapters/dynamodb/creation-store.ts';
import { keys, type Table } from '../../../../adapters/dynamodb/table.ts';
import { createDirectClient } from '../../../../simulation/aws/direct-client.ts';
import { createSimulatedTable } from '../../../../simulation/aws/simulated-table.ts';
import { now, seededBytes } from '../../../fixtures/records.ts';
import { fakeClock } from '../../../functions/fakes.ts';
import { idOf, openStores, orderOf } from '../facts.ts';

const day = 86_400_000;

it('The item of a lease goes away a day after it was taken, and the creation stays', async () => {
  const clock = fakeClock();
  const memory = createSimulatedTable({ now: () => clock.now() });
  const table: Table = {
    name: 'table',
    clock,
    randomBytes: seededBytes,
    client: createDirectClient((operation, input) => memory.perform(operation, input)),
  };
  const { charges } = await openStores(table);
  await charges.charge(orderOf(1));
  await createCreationStore(table).lease(idOf(1), 'one', now + 6_000, now);
  const stored = (): unknown => memory.get(keys.lease(idOf(1)).pk, keys.lease(idOf(1)).sk);
  clock.set(now + day - 1_000);
  memory.expire();
  expect(stored()).toBeDefined();
  clock.set(now + day + 1_000);
  memory.expire();
  expect(stored()).toBeUndefined();
  expect(memory.get(keys.creation(idOf(1)).pk, keys.creation(idOf(1)).sk)).toBeDefined();
});
