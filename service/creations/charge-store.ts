import type { Table } from '../aws/dynamodb/table.ts';
import { transact } from '../aws/dynamodb/transaction.ts';
import type { CreationId } from '../values/ids.ts';
import {
  chargeParts,
  type ChargeOrder,
  type ChargeOutcome,
  hopelessBudget,
  refusedCharge,
} from './charge.ts';
import type { CreationRecord } from './creation.ts';
import { endWithEvent } from './event-items.ts';
import { type Cancel, cancelItems, type Refund, refundItems } from './refund.ts';
import { countOpen } from './service-state-store.ts';

/** Charges creations on the request path, and refunds them there or in an execution. */
export function createCharges(table: Table) {
  return {
    /**
     * Takes money, by one conditional transaction. No other code does. Throws when the outcome stays unknown.
     */
    charge: async (order: ChargeOrder): Promise<ChargeOutcome> => {
      const hopeless = hopelessBudget(order);
      if (hopeless) return { kind: 'over_budget', budget: hopeless };
      const parts = chargeParts(table, order);
      const items = parts.map(({ item }) => item);
      const outcome = await transact(table, items, order.creations[0].id);
      switch (outcome.kind) {
        case 'done':
          return { kind: 'charged' };
        case 'overloaded':
          // Whether the charge was written is unknown. The reconciler will find out.
          if (outcome.unclear)
            throw new Error('the answer to the charge was lost, and the table stayed busy');
          return { kind: 'overloaded' };
        case 'refused':
          return refusedCharge(parts, outcome.refusals);
      }
    },
    /** Adds a charged creation to the open ones; the code that ends the creation subtracts it. Never fails. */
    countStart: (id: CreationId): Promise<void> => countOpen(table, id, 1),
    /** Fails the creation and refunds its charge, once. 'busy': the caller has to call again. */
    refund: async (
      creation: CreationRecord,
      refund: Refund,
    ): Promise<'refunded' | 'already_terminal' | 'busy'> => {
      const items = refundItems(table, creation, refund);
      const outcome = await endWithEvent(table, creation, refund.nowMillis, items);
      switch (outcome.kind) {
        case 'done':
          return 'refunded';
        case 'overloaded':
          return 'busy';
        case 'refused':
          return 'already_terminal';
      }
    },
  };
}

/** The cancel is apart, because the function that charges does not need it. */
export function createChargeStore(table: Table) {
  return {
    ...createCharges(table),
    /** Fails the creation as cancelled, if it is open with these attempts. 'moved_on': it is not. */
    cancel: async (creation: CreationRecord, cancel: Cancel): Promise<'cancelled' | 'moved_on' | 'busy'> => {
      const items = cancelItems(table, creation, cancel);
      const outcome = await endWithEvent(table, creation, cancel.nowMillis, items);
      switch (outcome.kind) {
        case 'done':
          return 'cancelled';
        case 'overloaded':
          return 'busy';
        case 'refused':
          return 'moved_on';
      }
    },
  };
}

export type Charges = ReturnType<typeof createCharges>;

export type ChargeStore = ReturnType<typeof createChargeStore>;
