/** The bodies that the service sends: events of creations, and notices to an account. */
import * as z from 'zod';
import { failedReasons, reversedReasons } from '../../notices/payment-parts.ts';
import { creationFailure, failureCode } from './creation.ts';
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
    result_urls: z.array(z.url()).meta({
      description: 'The addresses of the images. Signed ones end: read the creation again for new ones.',
    }),
    ...ended,
  })
  .meta({ id: 'CreationCompleted', description: 'The event of a creation that has its images.' });

export const creationFailed = z
  .object({
    event: z.literal('creation.failed'),
    status: z.literal('failed'),
    error: creationFailure,
    error_code: failureCode.optional(),
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
      user: z
        .string()
        .optional()
        .meta({ description: 'Only for the cap `user`: whose budget (`per_user_monthly_cap`) is reached.' }),
      period: z.string().meta({
        description:
          'The period in which the cap was reached: the UTC day (`2026-11-21`) for `daily`, the UTC month (`2026-11`) for `monthly` and `user`, and `total` for `total`.',
      }),
      level: z.union([z.literal(80), z.literal(100)]).meta({ description: 'In percent of the cap.' }),
      limit: usd('The cap, in USD.'),
      spent: usd('In USD.'),
      resets_at: z.iso
        .datetime()
        .nullable()
        .meta({ description: 'The end of the period. null for the cap `total`.' }),
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

const ofEndpoint = {
  ...told,
  account: z.object(wallet),
  endpoint: z.object({
    id: z.string(),
    url: z.string(),
    failing_since: moment('When the first of these attempts began.'),
  }),
};

export const endpointFailing = z.object({ notice: z.literal('endpoint.failing'), ...ofEndpoint }).meta({
  id: 'EndpointFailing',
  description: 'Every attempt of four days has failed. After five days the endpoint is switched off.',
});

export const endpointDisabled = z.object({ notice: z.literal('endpoint.disabled'), ...ofEndpoint }).meta({
  id: 'EndpointDisabled',
  description: 'Every attempt of five days has failed, and the endpoint is switched off.',
});

export const budgetReached = z
  .object({
    notice: z.literal('budget.reached'),
    ...told,
    account: z.object(wallet),
    budget: z.object({
      month: z.string().meta({ description: 'The UTC month, such as `2026-11`.' }),
      level: z.union([z.literal(80), z.literal(100)]).meta({ description: 'In percent of the budget.' }),
      limit: usd('The budget of the month, in USD.'),
      spent: usd('What all keys and the portal spent in the month, in USD.'),
      resets_at: moment('The end of the month.'),
    }),
  })
  .meta({
    id: 'BudgetReached',
    description: 'The account has spent 80 % or 100 % of its budget of a month.',
  });

const paymentId = z.string().meta({ description: 'The id of the payment.' });
const paymentKind = z.enum(['checkout', 'auto']).meta({
  description: 'checkout: a person paid on the page of Stripe. auto: the automatic top-up.',
});

export const paymentReceived = z
  .object({
    notice: z.literal('payment.received'),
    ...told,
    account: z.object(wallet),
    payment: z.object({ id: paymentId, kind: paymentKind, amount: usd('What was credited, in USD.') }),
  })
  .meta({ id: 'PaymentReceived', description: 'A payment came in, and the account is credited.' });

export const paymentFailed = z
  .object({
    notice: z.literal('payment.failed'),
    ...told,
    account: z.object(wallet),
    payment: z.object({
      id: paymentId.nullable().meta({ description: 'null: no payment began, because of the cap.' }),
      kind: z.literal('auto'),
      amount: z.number().nullable().meta({ description: 'In USD. null: no payment began.' }),
      reason: z.enum(failedReasons).meta({
        description:
          'unknown: Stripe did not say for a day; a payment that succeeds later is credited. monthly_cap: another payment would exceed the cap of the UTC month; this is told once a month.',
      }),
      auto_top_up: z.enum(['paused', 'on']).meta({ description: 'paused: until a person acts.' }),
      pay_url: z.url().meta({ description: 'The page on which an owner pays, or resumes.' }),
    }),
  })
  .meta({ id: 'PaymentFailed', description: 'An automatic top-up took no money.' });

export const paymentReversed = z
  .object({
    notice: z.literal('payment.reversed'),
    ...told,
    account: z.object(wallet),
    payment: z.object({
      id: paymentId,
      reason: z.enum(reversedReasons),
      amount: usd('In USD. Below zero: the account has lost it. dispute_won gives it back.'),
    }),
  })
  .meta({ id: 'PaymentReversed', description: 'A refund or a dispute has changed what a payment credited.' });

const notice = z
  .discriminatedUnion('notice', [
    walletLow,
    walletEmpty,
    keyCapReached,
    webhookFailing,
    endpointFailing,
    endpointDisabled,
    budgetReached,
    paymentReceived,
    paymentFailed,
    paymentReversed,
  ])
  .meta({
    id: 'Notice',
    description: 'Something that concerns no single creation. `notice` tells which of the ten it is.',
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
        'endpoint.failing',
        'endpoint.disabled',
        'budget.reached',
        'payment.received',
        'payment.failed',
        'payment.reversed',
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
