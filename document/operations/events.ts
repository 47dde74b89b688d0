/** What the document says of the log of events. */
import * as z from 'zod';
import { longestWaitSeconds, mostEvents } from '../../core/limits.ts';
import type { Documented } from '../operation.ts';
import { eventPage } from '../schemas/events.ts';

export const listEvents: Documented<'listEvents'> = {
  tag: 'Creations',
  summary: 'List events',
  description:
    'What happened behind a cursor, the oldest first: an event for every creation that ended, with or without `webhook_url`, and one more for every redelivery of its webhook. Keep `next_cursor` and ask with it again. No event is skipped, and the same cursor gives the same events again, with newer ones behind them. Events are shown for 30 days. At most two answers of an account are held at once; a third one comes at once.',
  query: {
    after: z.string().min(1).optional().meta({
      description:
        'The `next_cursor` of an earlier answer. Without it, the answer begins now: it has no event.',
    }),
    limit: z
      .int()
      .min(1)
      .max(mostEvents)
      .optional()
      .meta({ description: 'The default is 20.', examples: [20] }),
    wait: z
      .int()
      .min(0)
      .max(longestWaitSeconds)
      .optional()
      .meta({
        description: 'Holds the answer until there is an event, or for so many seconds. The default is 0.',
        examples: [0],
      }),
    include: z.literal('notices').optional().meta({ description: 'Also shows the notices of the account.' }),
  },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The events behind the cursor.',
        schema: eventPage,
        examples: ['events'],
      },
    ],
  },
};
