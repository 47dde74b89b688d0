/** The settings by which the service is watched: the limits of alarms, X-Ray and the canary. */
import * as z from 'zod';
import { wholeNumber } from './setting-values.ts';

const noTraffic = 'must be "off", "anomaly" or {minutes}';

/** The limits of the alarms that depend on the deployment. */
export const alarmSettings = z
  .strictObject(
    {
      /** 95 of 100 requests are charged and started within this time. */
      acceptMillis: wholeNumber(100, 30_000).default(2_000),
      /** 95 of 100 images are there within this time after the acceptance. */
      imageSeconds: wholeNumber(1, 720).default(120),
      /** The quota of concurrent executions of Lambda in this account and region. */
      concurrentExecutions: wholeNumber(10, 1_000_000).default(1_000),
      /**
       * When missing traffic is a fault. "anomaly": fewer creations than CloudWatch has learned to expect at this
       * hour. {minutes}: no creation for so long. "off": never, as for a service that is quiet at night.
       */
      trafficGone: z
        .union(
          [
            z.literal(['off', 'anomaly'], { error: noTraffic }),
            z.strictObject({ minutes: wholeNumber(5, 1_440) }, { error: noTraffic }),
          ],
          { error: noTraffic },
        )
        .default('off'),
    },
    { error: 'must be {acceptMillis, imageSeconds, concurrentExecutions, trafficGone}' },
  )
  .prefault({});

/** Whether functions, state machines and REST APIs send traces to X-Ray. AWS bills each trace. */
export const tracing = z.boolean({ error: 'must be true or false' }).default(false);

const canaryError = 'must be "off" or {everyMinutes}';

/** How often the canary makes a creation. */
export const canary = z
  .union(
    [
      z.literal('off', { error: canaryError }),
      z.strictObject({ everyMinutes: wholeNumber(1, 60) }, { error: canaryError }),
    ],
    { error: canaryError },
  )
  .default('off');

/** The settings of the alarms and of the canary, for the table of alarms. */
export interface Watching {
  readonly alarms: z.output<typeof alarmSettings>;
  readonly canary: z.output<typeof canary>;
}
