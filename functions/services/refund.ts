import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { commonServices, table, type CommonServices } from './clients.ts';

export interface RefundServices extends CommonServices {
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
}

export function refundServices(): RefundServices {
  const store = table();
  const common = commonServices('refund-charge');
  return {
    ...common,
    creations: createCreationStore(store),
    charges: createChargeStore(store),
  };
}
