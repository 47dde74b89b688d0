import { createEventLog } from '../../adapters/dynamodb/event-log.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { mostHeldReads } from '../../core/limits.ts';
import type { EventLog } from '../../core/ports/events.ts';
import type { HeldPlaces } from '../../core/ports/held.ts';
import { openApi, type ApiServices } from './api.ts';
import { table } from './clients.ts';
import type { OpenServices } from './open.ts';

/** For the operation that lists events. */
export interface EventServices extends ApiServices {
  readonly events: EventLog;
  readonly held: HeldPlaces;
}

export function eventServices(): OpenServices<EventServices> {
  const shared = table();
  const open = openApi(shared);
  return () => {
    const api = open();
    const store = { ...shared, signal: api.budget.signal };
    return {
      ...api,
      events: createEventLog(store),
      held: createHeldPlaces(store, 'events', mostHeldReads),
    };
  };
}
