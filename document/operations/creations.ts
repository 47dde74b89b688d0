/** What the document says of creations that were ordered. */
import * as z from 'zod';
import type { Documented } from '../operation.ts';
import { creation, creationPage, creationStatus } from '../schemas/creation.ts';
import { user } from '../schemas/values.ts';

export const listCreations: Documented<'listCreations'> = {
  tag: 'Creations',
  summary: 'List creations',
  description:
    'The creations of the account, the newest first. A creation that was just accepted may be missing for a moment. Continue as long as `has_more` is true: a page may be short, or even empty. A page never has more than 5 MB, and with `status`, `model` or `user` one request looks at 500 creations at most.',
  query: {
    limit: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'The default is 20.', examples: [20] }),
    cursor: z.string().min(1).optional().meta({ description: 'The `next_cursor` of the answer before.' }),
    status: creationStatus.optional().meta({ description: 'Only creations of this status.' }),
    model: z.string().min(1).optional().meta({ description: 'Only creations of this model.' }),
    user: user('Only creations for this user, exactly as it was sent.').optional(),
  },
  answers: {
    successes: [
      { status: 200, description: 'A page of creations.', schema: creationPage, examples: ['creations'] },
    ],
  },
};

export const getCreation: Documented<'getCreation'> = {
  tag: 'Creations',
  summary: 'Read a creation',
  description:
    'Poll a creation at most once a second. `Retry-After` says when the next poll makes sense. An id that does not exist, is malformed, or belongs to another account gets the same 404.',
  query: {},
  answers: {
    successes: [
      {
        status: 200,
        description: 'The creation as it is now.',
        schema: creation,
        headers: ['RetryAfterWhileOpen'],
        examples: ['completed', 'accepted'],
      },
    ],
    refusals: ['notFound', 'polledTooSoon'],
    concernsModel: true,
  },
};

export const cancelCreation: Documented<'cancelCreation'> = {
  tag: 'Creations',
  summary: 'Cancel a creation',
  description:
    'Cancels a creation while nothing was sent to a provider, and later when the provider confirms that it has stopped, so the answer can take some seconds. The creation fails with its full refund. A repetition gets the same answer, so the request needs no `Idempotency-Key`. It needs no body either.',
  query: {},
  answers: {
    successes: [
      {
        status: 200,
        description: 'The creation is cancelled, by this request or by an earlier one.',
        schema: creation,
        examples: ['cancelled'],
      },
    ],
    refusals: ['notCancellable', 'notFound'],
    examples: { 400: ['not-cancellable'] },
    takesBody: true,
  },
};
