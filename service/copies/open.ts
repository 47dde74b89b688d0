import type { ApiPlatform } from '../api/open.ts';
import { createNoticeExecutions } from '../notices/notice-executions.ts';
import { type ServicesOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { openEndpoints } from '../webhooks/open-endpoints.ts';
import { createBucketStore } from './bucket-store.ts';
import { createCopyStore } from './copy-store.ts';

/** What an attempt to copy needs beside the services of deliveries. */
export function openCopies(on: On<'dynamodb' | 'images'>) {
  const table = tableOf(on);
  return { images: on.images, buckets: createBucketStore(table), copies: createCopyStore(table) };
}

export type BucketApiServices = ServicesOf<typeof openEndpointsAndBucket>;

/** The services of the function that manages the endpoints and the bucket of an account. */
export function openEndpointsAndBucket(on: ApiPlatform & On<'outbound' | 'secretBox' | 'states'>) {
  const open = openEndpoints(on);
  const table = tableOf(on);
  const { states, secretBox } = on;
  const machine = on.environment('NOTICE_MACHINE_ARN');
  return () => {
    const services = open();
    const { signal } = services.budget;
    const store = { ...table, signal };
    return {
      ...services,
      buckets: createBucketStore(store),
      copies: createCopyStore(store),
      noticeExecutions: createNoticeExecutions(states, machine, signal),
      secretBox,
    };
  };
}
