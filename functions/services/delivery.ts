import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createNoticeExecutions } from '../../adapters/step-functions.ts';
import { commonOf, tableOf } from './common.ts';
import type { On } from './platform.ts';

export type DeliveryServices = ReturnType<typeof openDelivery>;

export function openDelivery(on: On<'dynamodb' | 'states' | 'secretBox' | 'outbound'>) {
  const table = tableOf(on);
  return {
    ...commonOf(on, 'deliver-webhook'),
    creations: createCreationStore(table),
    deliveries: createDeliveryStore(table),
    notices: createNoticeStore(table),
    noticeExecutions: createNoticeExecutions(on.states, on.environment('NOTICE_MACHINE_ARN')),
    secretBox: on.secretBox,
    outbound: on.outbound,
    resultsBaseUrl: on.environment('RESULTS_BASE_URL'),
  };
}
