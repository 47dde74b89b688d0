import { createAccountStore } from '../accounts/account-store.ts';
import { createWalletStore } from '../accounts/wallet-store.ts';
import { cancelling, type CancelPlatform } from '../api/open.ts';
import { createOperatorCatalogStore } from '../catalog/operator-catalog-store.ts';
import { createEraseStore } from '../creations/erase-store.ts';
import { createExecutions } from '../creations/executions.ts';
import { createServiceSwitch } from '../creations/service-state-store.ts';
import { createNoticeStore } from '../notices/notice-store.ts';
import { createDeliveryStore } from '../webhooks/delivery-store.ts';
import { createEndpointStore } from '../webhooks/endpoint-store.ts';
import { commonOf, machinesOf, tableOf } from './common.ts';
import type { On } from './platform.ts';

/** For an operator's command. The operator starts no notice: the reconciler starts it at its next run. */
export function openOperator(on: CancelPlatform & On<'images' | 'secretBox' | 'outbound'>) {
  const table = tableOf(on);
  const common = commonOf(on, 'operator');
  const cancel = cancelling(on)(table, common);
  return {
    table,
    clock: on.clock,
    randomBytes: on.randomBytes,
    schema: common.schema,
    accounts: createAccountStore(table),
    wallet: createWalletStore(table),
    creations: cancel.creations,
    charges: cancel.charges,
    cancellation: { ...common, ...cancel },
    erasure: { ...common, erasures: createEraseStore(table), images: on.images() },
    deliveries: createDeliveryStore(table),
    endpoints: createEndpointStore(table),
    notices: createNoticeStore(table),
    executions: createExecutions(on.states, machinesOf(on)),
    secretBox: on.secretBox,
    outbound: on.outbound,
    operatorCatalog: createOperatorCatalogStore(table),
    serviceSwitch: createServiceSwitch(table),
  };
}
