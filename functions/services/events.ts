import { createEventLog } from '../../adapters/dynamodb/event-log.ts';
import type { EventLog } from '../../core/ports/events.ts';
import { openApi, type ApiServices } from './api.ts';
import { table } from './clients.ts';
import type { OpenServices } from './open.ts';

/** For the operation that lists events. */
export interface EventServices extends ApiServices {
  readonly events: EventLog;
}

export function eventServices(): OpenServices<EventServices> {
  const shared = table();
  const open = openApi(shared);
  return () => {
    const api = open();
    return { ...api, events: createEventLog({ ...shared, signal: api.budget.signal }) };
  };
}
