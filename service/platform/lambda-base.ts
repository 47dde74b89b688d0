/** What every opener takes, in Lambda. This file loads no client of the SDK, so that a small function stays small. */
import { randomBytes } from 'node:crypto';
import { systemClock as clock } from '../aws/clock.ts';
import { createJsonLog } from '../aws/log.ts';
import { schema } from '../values/schema-version.ts';
import { environment } from './environment.ts';
import type { On, Platform } from './platform.ts';

export const random: Platform['randomBytes'] = (count) => randomBytes(count);

export function base(): On {
  const namespace = environment('METRICS_NAMESPACE');
  return {
    clock,
    randomBytes: random,
    environment,
    log: (component) => createJsonLog({ component, namespace, now: () => clock.now() }),
    schema: () => schema,
    remembered: (_name, make) => {
      const state = make();
      return () => state;
    },
  };
}
