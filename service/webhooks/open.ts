import { createCreationStore } from '../creations/creation-store.ts';
import { createNoticeExecutions } from '../notices/notice-executions.ts';
import type { Topics } from '../aws/topics.ts';
import { createMailReads } from '../notices/mail-store.ts';
import { createMonthSpent } from '../notices/spend-reads.ts';
import { createNoticeStore } from '../notices/notice-store.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import { commonOf, resultsOf, tableOf } from '../platform/common.ts';
import type { On, ResultsPlatform } from '../platform/platform.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createEndpointStore } from './endpoint-store.ts';
import { createRoundStore } from './round-store.ts';

export type DeliveryServices = ReturnType<typeof openDelivery> & { readonly copyOwed?: CopyOwed };

export type DeliveryPlatform = On<'dynamodb' | 'states' | 'secretBox' | 'outbound'> & ResultsPlatform;

/** Makes one attempt of a copy. Only the function that delivers notices has this code. */
export type CopyOwed = (work: NoticeRecord, services: DeliveryServices) => Promise<void>;

/**
 * @param component the function's name in its log
 * @param topics absent: a function that delivers no notices, or a service that sends no e-mails
 */
export function openDelivery(on: DeliveryPlatform, component = 'deliver-webhook', topics?: Topics) {
  const table = tableOf(on);
  return {
    ...commonOf(on, component),
    creations: createCreationStore(table),
    deliveries: createDeliveryStore(table),
    endpoints: createEndpointStore(table),
    rounds: createRoundStore(table),
    notices: createNoticeStore(table),
    monthSpent: createMonthSpent(table),
    noticeExecutions: createNoticeExecutions(on.states, on.environment('NOTICE_MACHINE_ARN')),
    ...(topics && { mails: { ...createMailReads(table), ...topics } }),
    secretBox: on.secretBox,
    outbound: on.outbound,
    results: resultsOf(on),
  };
}
