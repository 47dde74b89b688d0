import { createHeldSlots } from '../api/held-slots-store.ts';
import { type ApiPlatform, openApiWith } from '../api/open.ts';
import { mostHeldReads } from '../contract/limits.ts';
import type { ServicesOf } from '../platform/common.ts';
import { createEventLog } from './event-store.ts';

export type EventServices = ServicesOf<typeof openEvents>;

export function openEvents(on: ApiPlatform) {
  return openApiWith(on, (store) => ({
    events: createEventLog(store),
    held: createHeldSlots(store, 'events', mostHeldReads),
  }));
}
