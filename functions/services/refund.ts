import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { commonOf, tableOf } from './common.ts';
import type { On } from './platform.ts';

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
