/** The bodies that the service sends: events of creations, and notices to an account. */
import * as z from 'zod';
import { creationFailure } from './creation.ts';
import { currency, metadata, moment, usd } from './values.ts';

const ended = {
  id: z.uuid().meta({ description: 'The id of the creation.' }),
  cost: usd('What was charged, in USD. It stays after a refund.'),
  metadata,
  created_at: moment('When the request was accepted.'),
  completed_at: moment('When the creation ended.'),
};

export const creationCompleted = z
  .object({
    event: z.literal('creation.completed'),
    status: z.literal('completed'),
    result_urls: z.array(z.url()).meta({ description: 'The addresses of the images.' }),
    ...ended,
  })
  .meta({ id: 'CreationCompleted', description: 'The event of a creation that has its images.' });

export const creationFailed = z
  .object({
    event: z.literal('creation.failed'),
    status: z.literal('failed'),
    error: creationFailure,
    ...ended,
    cancelled_at: z.iso.datetime().nullable().optional().meta({
      description:
        'When the creation was cancelled. Missing when a release without this field made the first attempt.',
    }),
  })
  .meta({ id: 'CreationFailed', description: 'The event of a creation that failed and was refunded.' });

const wallet = {
  available: usd('What the account can spend, in USD.'),
  low_balance: z.number().nullable().meta({ description: 'The threshold of wallet.low, in USD.' }),
  currency,
};

const noticeId = z
  .string()
  .regex(/^ntc_[0-9a-f-]{36}$/)
  .meta({ description: 'The same in every attempt.' });
const told = { id: noticeId, created_at: moment('When the service noticed the crossing.') };

export const walletLow = z
  .object({ notice: z.literal('wallet.low'), ...told, account: z.object(wallet) })
  .meta({ id: 'WalletLow', description: 'Less than the threshold is available.' });

export const walletEmpty = z
  .object({
    notice: z.literal('wallet.empty'),
    ...told,
    account: z.object({ ...wallet, required: usd('With so much available the wallet would not be empty.') }),
  })
  .meta({
    id: 'WalletEmpty',
    description: 'Nothing is left, or a request was refused because the balance does not cover it.',
  });

export const keyCapReached = z
  .object({
    notice: z.literal('key.cap_reached'),
    ...told,
    account: z.object(wallet),
    key: z.object({
      id: z.string(),
      name: z.string(),
      cap: z.enum(['daily', 'monthly', 'total', 'user']),
      user: z.string().optional().meta({ description: 'Only for the cap `user`: whose budget is reached.' }),
      period: z.string().meta({ description: '`2026-11-21`, `2026-11` or `total`.' }),
      level: z.union([z.literal(80), z.literal(100)]).meta({ description: 'In percent of the cap.' }),
      limit: usd('The cap, in USD.'),
      spent: usd('In USD.'),
      resets_at: z.iso.datetime().nullable().meta({ description: 'null for the cap `total`.' }),
    }),
  })
  .meta({ id: 'KeyCapReached', description: 'A key has spent 80 % or 100 % of one of its caps.' });

export const webhookFailing = z
  .object({
    notice: z.literal('webhook.failing'),
    ...told,
    account: z.object(wallet),
    webhooks: z.object({ failed_attempts: z.int().min(1) }),
  })
  .meta({ id: 'WebhookFailing', description: 'Ten attempts of webhooks have failed in a row.' });
