import { createEventLog } from '../../adapters/dynamodb/event-log.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { mostHeldReads } from '../../core/limits.ts';
import { openApiWith } from './api.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';

/** For the operation that lists events. */
export type EventServices = ServicesOf<typeof openEvents>;

export function openEvents(on: On<'dynamodb'>) {
  return openApiWith(on, (store) => ({
    events: createEventLog(store),
    held: createHeldPlaces(store, 'events', mostHeldReads),
  }));
}
