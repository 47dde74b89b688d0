import { commonOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { createChargeStore } from './charge-store.ts';
import { createCreationStore } from './creation-store.ts';

export type RefundServices = ReturnType<typeof openRefund>;

export function openRefund(on: On<'dynamodb'>, component = 'refund-charge') {
  const table = tableOf(on);
  const common = commonOf(on, component);
  return {
    ...common,
    creations: createCreationStore(table),
    charges: createChargeStore(table),
  };
}
