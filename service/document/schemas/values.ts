/** The small values that requests and answers share. A name in `meta` becomes a component of the document. */
import * as z from 'zod';
import {
  maxSourceBytes,
  maxUrlLength,
  mostTokenModels,
  mostTokenOrigins,
  mostTokenSpend,
  tokenSeconds,
  tokenUses,
} from '../../contract/limits.ts';
import { aspectRatios, outputFormats, type PlainField, resolutions } from '../../contract/request-fields.ts';
import answers from '../examples.json' with { type: 'json' };

export const resolution = z
  .enum(resolutions)
  .meta({ id: 'Resolution', description: 'The size of the image. GET /models lists what a model renders.' });

export const aspectRatio = z
  .enum(aspectRatios)
  .meta({ id: 'AspectRatio', description: 'Width to height of the image.' });

export const outputFormat = z
  .enum(outputFormats)
  .meta({ id: 'OutputFormat', description: 'The format of the image file.' });

export const currency = z.literal('USD').meta({ description: 'All amounts are US dollars.' });

export const autoTopUp = z.enum(['on', 'open', 'paused']).optional().meta({
  description:
    'The automatic top-up. open: money is on its way. paused: a person must act. Absent: it is off.',
});

/** An amount in USD. It has at most 6 decimals. */
export function usd(description: string): z.ZodNumber {
  return z.number().meta({ description });
}

/** RFC 3339, in UTC. */
export function moment(description: string): z.ZodISODateTime {
  return z.iso.datetime().meta({ description });
}

export const metadata = z.record(z.string(), z.string()).meta({
  description: 'The metadata of the request, under exactly its keys.',
});

// Not \p{Cc}, which not every reader of the document understands.
// oxlint-disable-next-line eslint/no-control-regex
export const noControlCharacter = /^[^\u0000-\u001F\u007F-\u009F]*$/;

/** For whom the client renders. Lengths count code points. */
export function user(description: string): z.ZodString {
  return z.string().min(1).max(64).regex(noControlCharacter).meta({ description });
}

export function plainSchema(field: PlainField): z.ZodType {
  if (field.kind === 'integer') return z.int().min(field.least).max(field.most);
  return field.kind === 'choice' ? z.enum(field.values) : z.string().min(field.least).max(field.most);
}

/** The examples of the document: answers of a running service, which a test compares with today's. */
export type ExampleName = keyof typeof answers;

export function examplesOf(
  ...names: readonly ExampleName[]
): Record<string, { readonly value: unknown }> | undefined {
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, { value: answers[name] }]));
}

export const quote = z
  .object({
    cost: usd('What the request would cost, in USD.'),
    currency,
    model: z.string(),
    resolution,
    aspect_ratio: aspectRatio,
    output_format: outputFormat,
    input_images: z.int().min(0).meta({ description: 'The number of source images.' }),
    available: usd('What the account can spend, in USD.'),
    sufficient: z.boolean().meta({ description: 'Whether the account can pay the request.' }),
  })
  .meta({ id: 'Quote', description: 'The price of a request, and the image that it would give.' });

function cap(description: string): z.ZodNullable<z.ZodNumber> {
  return z
    .number()
    .nullable()
    .meta({ description: `${description}, in USD. null is no limit.` });
}

const userBudget = z
  .object({
    id: z.string(),
    spent: usd('What the key has spent for this user in this UTC month, while it had a cap for each user.'),
    resets_at: moment('The begin of the next month.'),
  })
  .meta({ id: 'UserBudget', description: 'What a key has spent for one user of the client.' });

const keyBudget = z
  .object({
    monthly_cap: cap('The most that the key may spend in a UTC month'),
    spent: usd('What the key has spent in this UTC month.'),
    resets_at: moment('The begin of the next month.'),
    daily_cap: cap('The most that the key may spend on a UTC day'),
    spent_today: usd('What the key has spent on this UTC day.'),
    day_resets_at: moment('The begin of the next day.'),
    total_cap: cap('The most that the key may spend in all'),
    spent_total: usd('What the key has spent in all.'),
    per_user_monthly_cap: cap('The most that the key may spend in a UTC month for each user'),
    models: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only models that the key may use. null for all models of the account.' }),
    expires_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When the key stops working. null for never.' }),
    user: userBudget.nullable().meta({ description: 'null unless the request names a user.' }),
  })
  .meta({
    id: 'KeyBudget',
    description:
      'The limits of the key of this request, and what it has spent. A refund is credited to the day, the month and the user of its charge.',
  });

export const balance = z
  .object({
    available: usd('The balance plus the credit line, in USD.'),
    balance: usd('In USD. Below zero while the credit line is in use.'),
    credit_line: usd('In USD.'),
    currency,
    auto_top_up: autoTopUp,
    in_flight: z.int().min(0).meta({ description: 'Creations of the account that have not ended.' }),
    max_concurrent: z.int().min(0).meta({ description: 'The most creations that may be open at once.' }),
    key: keyBudget,
  })
  .meta({ id: 'Balance', description: 'What the account and this key can spend.' });

export const uploadRequest = z
  .strictObject({
    content_type: z.enum(['image/png', 'image/jpeg', 'image/webp']),
    bytes: z.int().min(1).max(maxSourceBytes).meta({ description: 'The length of the file.' }),
  })
  .meta({ id: 'UploadRequest', description: 'The type and the length of a file that will be put.' });

const tokenMembers = {
  user: user('For whom the token acts. Every creation that it makes has this user.'),
  spend_limit: usd('The most that the token may spend, in USD.'),
  max_uses: z
    .int()
    .min(tokenUses.least)
    .max(tokenUses.most)
    .meta({ description: 'How many creations it may make, and announce how many uploads.' }),
  models: z
    .array(z.string())
    .nullable()
    .meta({ description: 'The only models that the token may use. null for all models of the key.' }),
  origins: z.array(z.string()).meta({
    description: 'The origins of the pages that may send the token. Requests without `Origin` may always.',
  }),
};

export const userTokenRequest = z
  .strictObject({
    user: tokenMembers.user,
    spend_limit: z
      .number()
      .gt(0)
      .max(mostTokenSpend)
      .meta({ description: 'The most that the token may spend, in USD, with at most 6 decimals.' }),
    expires_in: z
      .int()
      .min(tokenSeconds.least)
      .max(tokenSeconds.most)
      .nullish()
      .meta({ description: 'In seconds. The default is 300. No token outlives its key.' }),
    max_uses: tokenMembers.max_uses.nullish().meta({ description: 'The default is 10.' }),
    models: z
      .array(z.string().min(1))
      .min(1)
      .max(mostTokenModels)
      .nullish()
      .meta({ description: 'Models of the key. The default is all of them.' }),
    origins: z
      .array(z.string().min(1))
      .max(mostTokenOrigins)
      .nullish()
      .meta({
        description:
          'The origins of your pages: `https://host[:port]`, or `http://localhost[:port]`. Without them no page can use the token.',
        examples: [['https://app.example.com']],
      }),
    webhook_url: z
      .string()
      .max(maxUrlLength)
      .nullish()
      .meta({ description: 'Of every creation that the token makes.' }),
    metadata: z
      .record(z.string().min(1).max(40), z.string().max(500))
      .nullish()
      .meta({ description: 'Of every creation that the token makes.' }),
  })
  .meta({ id: 'UserTokenRequest', description: 'For whom a token is, and what it may do.' });

const tokenId = z.string().regex(/^[0-9A-Za-z]{16}$/);
export const userTokenId = tokenId.meta({ description: 'The id of the token.' });

const shownToken = {
  id: tokenId,
  ...tokenMembers,
  expires_at: moment('From when on the token is refused.'),
};

export const newUserToken = z
  .object({
    ...shownToken,
    token: z
      .string()
      .regex(/^dk_user_[0-9A-Za-z]{50}$/)
      .meta({ description: 'The token itself, in this answer only. Give it to the page of the user.' }),
  })
  .meta({ id: 'NewUserToken', description: 'A token, as it was minted.' });

export const userToken = z
  .object({
    ...shownToken,
    spent: usd('What the token has spent, less refunds, in USD.'),
    uses: z.int().min(0).meta({ description: 'How many creations it has made. A refund gives none back.' }),
    revoked_at: z.iso.datetime().nullable().meta({ description: 'null unless it was revoked.' }),
  })
  .meta({ id: 'UserToken', description: 'A token, and what it has done.' });

export const upload = z
  .object({
    id: z.uuid(),
    image_url: z
      .string()
      .regex(/^upload:[0-9a-f-]{36}$/)
      .meta({ description: 'The item of `image_urls` that names this upload.' }),
    upload_url: z.url().meta({ description: 'PUT the bytes there within 15 minutes, without an API key.' }),
    upload_headers: z
      .record(z.string(), z.string())
      .meta({ description: 'Headers of the PUT. They are signed: send exactly these.' }),
    expires_at: moment('Until when the upload can be named in `image_urls`.'),
  })
  .meta({ id: 'Upload', description: 'An announced upload.' });
