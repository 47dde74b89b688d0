import { createAccountStore } from '../../adapters/dynamodb/account-store.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createOperatorCatalogStore } from '../../adapters/dynamodb/operator-catalog-store.ts';
import { createServiceSwitch } from '../../adapters/dynamodb/service-switch.ts';
import { createWalletStore } from '../../adapters/dynamodb/wallet-store.ts';
import { createExecutions } from '../../adapters/step-functions.ts';
import { cancelling, type CancelPlatform } from './cancel.ts';
import { commonOf, machinesOf, tableOf } from './common.ts';
import type { On } from './platform.ts';

/** For an operator's command. The operator starts no notice: the reconciler starts it at its next run. */
export function openOperator(on: CancelPlatform & On<'secretBox' | 'outbound'>) {
  const table = tableOf(on);
  const common = commonOf(on, 'operator');
  const cancel = cancelling(on)(table, common);
  return {
    table,
    clock: on.clock,
    randomBytes: on.randomBytes,
    accounts: createAccountStore(table),
    wallet: createWalletStore(table),
    creations: cancel.creations,
    charges: cancel.charges,
    cancellation: { ...common, ...cancel },
    deliveries: createDeliveryStore(table),
    notices: createNoticeStore(table),
    executions: createExecutions(on.states, machinesOf(on)),
    secretBox: on.secretBox,
    outbound: on.outbound,
    operatorCatalog: createOperatorCatalogStore(table),
    serviceSwitch: createServiceSwitch(table),
  };
}
