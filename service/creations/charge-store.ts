import type { Table } from '../aws/dynamodb/table.ts';
import { transact } from '../aws/dynamodb/transaction.ts';
import { chargeItems, hopelessBudget, refusedCharge } from './charge.ts';
import type { Charges, ChargeStore } from './charges.ts';
import { endWithEvent } from './event-items.ts';
import { countOpen } from './service-state-store.ts';
import { cancelItems, refundItems } from './refund.ts';

/** Charges creations on the request path, and refunds them there or in an execution. */
export function createCharges(table: Table): Charges {
  return {
    charge: async (order) => {
      const hopeless = hopelessBudget(order);
      if (hopeless) return { kind: 'over_budget', budget: hopeless };
      const items = chargeItems(table, order);
      const outcome = await transact(table, [...items.values()], order.creations[0].id);
      switch (outcome.kind) {
        case 'done':
          return { kind: 'charged' };
        case 'overloaded':
          // Whether the charge was written is unknown. The reconciler will find out.
          if (outcome.unclear)
            throw new Error('the answer to the charge was lost, and the table stayed busy');
          return { kind: 'overloaded' };
        case 'refused':
          return refusedCharge(
            order,
            new Map([...items.keys()].map((part, index) => [part, outcome.refusals[index]])),
          );
      }
    },
    countStart: (id) => countOpen(table, id, 1),
    refund: async (creation, refund) => {
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
export function createChargeStore(table: Table): ChargeStore {
  return {
    ...createCharges(table),
    cancel: async (creation, cancel) => {
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
