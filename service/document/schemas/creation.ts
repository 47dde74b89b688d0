/** The creation as its client sees it (creationView of service/creations/creation.ts). */
import * as z from 'zod';
import { cancelledCode, failureNames, failures } from '../../contract/failures.ts';
import { plainRows } from '../../contract/request-fields.ts';
import { creationStatuses } from '../../creations/creation.ts';
import {
  aspectRatio,
  currency,
  metadata,
  moment,
  outputFormat,
  plainSchema,
  resolution,
  usd,
} from './values.ts';

export const creationStatus = z.enum(creationStatuses).meta({
  id: 'CreationStatus',
  description: '`queued`, then `processing`, then finally `completed` or `failed`.',
});

const messages = [...new Set(failureNames.map((name) => failures[name].message))] as [string, ...string[]];

export const creationFailure = z.enum(messages).meta({
  id: 'CreationFailure',
  description: 'Why a creation failed: exactly one of these messages. Every failed creation is refunded.',
  // Generators make a name of each message otherwise, and no language takes its dash.
  'x-enum-varnames': messages.map((message) =>
    failureNames.find((name) => failures[name].message === message),
  ),
});

export const failureCode = z
  .enum([...failureNames.map((name) => failures[name].code), cancelledCode])
  .meta({ id: 'FailureCode', description: 'Why a creation failed, for programs: the code of its message.' });

const creationResult = z
  .object({
    url: z.url().meta({
      description:
        'Anyone who has the address can fetch the image until result_expires_at; a signed address until its Expires, in Unix seconds.',
    }),
    width: z.int().min(1).meta({ description: 'In pixels.' }),
    height: z.int().min(1).meta({ description: 'In pixels.' }),
    content_type: z.enum(['image/png', 'image/jpeg', 'image/webp']),
    bytes: z.int().min(1).meta({ description: 'The length of the file.' }),
    content_credentials: z.enum(['present', 'absent']).optional().meta({
      description:
        '`present` when the file carries content credentials, a C2PA manifest that says who made the picture and with which tool; otherwise `absent`. Read from the bytes that the provider sent, which are never changed. The signature is not checked. Missing on results of a release that did not look.',
    }),
  })
  .meta({ id: 'CreationResult', description: 'One rendered image.' });

const creationWebhook = z
  .object({
    url: z.string(),
    status: z.enum(['pending', 'delivered', 'failed', 'skipped']),
    attempts: z.int().min(0).meta({ description: 'Attempts of the current round.' }),
  })
  .meta({ id: 'CreationWebhook', description: 'The webhook of a creation, and how its delivery stands.' });

const creationCopy = z
  .object({
    status: z.enum(['pending', 'copied', 'failed']),
    attempts: z.int().min(0).meta({ description: 'Attempts of the current round that have ended.' }),
    url: z
      .url()
      .nullable()
      .meta({ description: 'The address of the object in your bucket. null until it is there.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the last attempt failed, or why no attempt is made any more.' }),
  })
  .meta({ id: 'CreationCopy', description: 'The copy of the picture in the bucket of the account.' });

const plainAnswers = Object.fromEntries(
  plainRows.map(([name, field]) => [
    name,
    plainSchema(field)
      .optional()
      .meta({ description: 'As in the request. Missing when the request left it out.' }),
  ]),
);

const asked = {
  id: z.uuid().meta({ description: 'The id of the creation, a UUID of version 7.' }),
  model: z.string(),
  prompt: z.string().nullable(),
  resolution,
  aspect_ratio: aspectRatio,
  output_format: outputFormat,
  ...plainAnswers,
  seed: z.int().min(0).nullable(),
  cost: usd('What was charged, in USD. It stays after a refund.'),
  amount_refunded: usd('What was refunded, in USD: 0 or the cost.'),
  currency,
  webhook: creationWebhook
    .nullable()
    .meta({ description: 'null when the request named no webhook_url, and after erased_at.' }),
  metadata,
  user: z.string().nullable().meta({
    description: 'For whom the client renders, as the request named it. null when it named nobody.',
  }),
  created_at: moment('When the request was accepted.'),
  started_at: z.iso.datetime().nullable().meta({ description: 'When the rendering began.' }),
};

/** null in words that generators can read: most know no `type: null`, and openapi-fetch drops a field of null alone. */
const notYet = z.null().meta({ override: { type: ['string', 'null'], const: null } });

const erasedAt = z.iso.datetime().optional().meta({
  description:
    'When prompt, metadata, user and webhook were erased, by a DELETE or by age. Missing as long as they are there.',
});

const openCreation = z
  .object({
    ...asked,
    status: z.enum(['queued', 'processing']),
    completed_at: notYet,
    cancelled_at: notYet,
  })
  .meta({ id: 'OpenCreation', description: 'A creation that has not ended.' });

const completedCreation = z
  .object({
    ...asked,
    status: z.literal('completed'),
    result_urls: z.array(z.url()).meta({
      description:
        'The addresses of the images. Empty after result_expires_at. Where addresses are signed, each reading gives new ones, which open the images for an hour or as the operator chose; afterwards they are 403.',
    }),
    results: z.array(creationResult).meta({ description: 'The images. Empty after result_expires_at.' }),
    result_expires_at: moment('Until when the images can be fetched.'),
    copy: creationCopy
      .optional()
      .meta({ description: 'Missing when the account had no bucket for results.' }),
    completed_at: moment('When the creation ended.'),
    cancelled_at: notYet,
    erased_at: erasedAt,
  })
  .meta({ id: 'CompletedCreation', description: 'A creation that has its images.' });

const failedCreation = z
  .object({
    ...asked,
    status: z.literal('failed'),
    error: creationFailure,
    error_code: failureCode,
    retryable: z.boolean().meta({ description: 'Whether the same request may succeed when sent again.' }),
    completed_at: moment('When the creation ended.'),
    cancelled_at: z.iso.datetime().nullable().meta({ description: 'When the creation was cancelled.' }),
    erased_at: erasedAt,
  })
  .meta({ id: 'FailedCreation', description: 'A creation that failed. Its charge was refunded in full.' });

export const creation = z
  .discriminatedUnion('status', [openCreation, completedCreation, failedCreation])
  .meta({
    id: 'Creation',
    description: 'A creation. `status` tells which of the three it is.',
  });

const ofTheAccount = { webhook: true, metadata: true } as const;

/** What the token of an end user gets. */
export const userCreation = z
  .union([
    openCreation.omit(ofTheAccount),
    completedCreation.omit(ofTheAccount),
    failedCreation.omit(ofTheAccount),
  ])
  .meta({
    id: 'UserCreation',
    description: 'A creation as a token of its user gets it: without webhook and metadata.',
  });

export const creationPage = z
  .object({
    data: z.array(creation).meta({ description: 'The newest first.' }),
    has_more: z.boolean(),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'The `cursor` of the next request. null when has_more is false.' }),
  })
  .meta({
    id: 'CreationPage',
    description: 'A page of creations. It may be short, or empty, with has_more.',
  });

export const creationId = z.uuid().meta({ description: 'The id of the creation.' });
