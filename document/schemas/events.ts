/** The log of events: the bodies of webhooks and notices behind a cursor. */
import * as z from 'zod';
import {
  creationCompleted,
  creationFailed,
  keyCapReached,
  walletEmpty,
  walletLow,
  webhookFailing,
} from './webhooks.ts';
import { moment } from './values.ts';

const notice = z.discriminatedUnion('notice', [walletLow, walletEmpty, keyCapReached, webhookFailing]).meta({
  id: 'Notice',
  description: 'Something that concerns no single creation. `notice` tells which of the four it is.',
});

const creationEvent = z
  .discriminatedUnion('event', [creationCompleted, creationFailed])
  .meta({ id: 'CreationEvent', description: 'The end of a creation. `event` tells which of the two it is.' });

const event = z
  .object({
    id: z
      .string()
      .regex(/^evt_[0-9a-f-]{36}$/)
      .meta({ description: 'New for each redelivery.' }),
    event: z
      .enum([
        'creation.completed',
        'creation.failed',
        'wallet.low',
        'wallet.empty',
        'key.cap_reached',
        'webhook.failing',
      ])
      .meta({ description: 'The `event` or the `notice` of the payload.' }),
    created_at: moment('When it happened.'),
    payload: z.union([creationEvent, notice]).meta({
      description: 'The body of the webhook or of the notice. As JSON without spaces it has the same bytes.',
    }),
    redelivery_of: z.string().nullable().meta({
      description: 'The id of the first event of the creation; null on every other event.',
    }),
  })
  .meta({
    id: 'Event',
    description: 'A creation has ended, its webhook is sent again, or a notice was told.',
  });

export const eventPage = z
  .object({
    data: z.array(event).meta({ description: 'The oldest first.' }),
    next_cursor: z.string().meta({ description: 'The `after` of the next request, also without events.' }),
  })
  .meta({
    id: 'EventPage',
    description: 'The events behind a cursor. An empty page says that there is none.',
  });
