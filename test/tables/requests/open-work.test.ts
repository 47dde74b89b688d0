/** The requests of the store of open work, and of the list of enabled providers. */
import { createOpenWorkStore } from '../../../service/creations/open-work-store.ts';
import { aCreation, now } from '../../fixtures/records.ts';
import { describeRequests, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'Work that is due later',
    (table) => createOpenWorkStore(table).postpone(aCreation(), now + 9_000),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: SET dueAt = :due
  Condition: dueAt = :read
  :read: 1795262490000, :due: 1795262439000`,
  ],
  [
    'Work that is done',
    (table) => createOpenWorkStore(table).postpone(aCreation(), undefined),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: REMOVE dueAt, openShard
  Condition: dueAt = :read
  :read: 1795262490000`,
  ],
  [
    'Another execution',
    (table) => createOpenWorkStore(table).noteStart(aCreation(), now + 9_000, 2),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: SET dueAt = :due, executions = :execution, recoveries = recoveries + :one
  Condition: dueAt = :read
  :read: 1795262490000, :due: 1795262439000, :execution: 2, :one: 1`,
  ],
];

describeRequests('The store of open work', rows);
