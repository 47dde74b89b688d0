/** What something costs, and what can be spent. */
import * as z from 'zod';
import { aspectRatio, currency, moment, outputFormat, resolution, usd } from './values.ts';

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
    expires_at: z.iso.datetime().nullable().meta({ description: 'When the key stops working.' }),
    user: userBudget.nullable().meta({ description: 'null unless the request names a user.' }),
  })
  .meta({ id: 'KeyBudget', description: 'The limits of the key of this request, and what it has spent.' });

export const balance = z
  .object({
    available: usd('The balance plus the credit line, in USD.'),
    balance: usd('In USD. Below zero while the credit line is in use.'),
    credit_line: usd('In USD.'),
    currency,
    in_flight: z.int().min(0).meta({ description: 'Creations of the account that have not ended.' }),
    max_concurrent: z.int().min(0).meta({ description: 'The most creations that may be open at once.' }),
    key: keyBudget,
  })
  .meta({ id: 'Balance', description: 'What the account and this key can spend.' });
