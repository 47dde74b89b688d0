/** The planted bugs of payments through Stripe. */
import type { Bugs } from './plant.ts';

export const payments: Bugs = {
  'service/payments/follow-payment.ts': {
    'payment-on-its-way-credited': [
      "case 'processing':\n      return { kind: 'processing' };",
      "case 'processing':\n      return credit(services, payment, { ...intent, amountReceivedCents: intent.amountCents });",
      'payments',
    ],
    'tax-is-credited': [
      '{ ...payment, paymentIntent: intent.id },',
      '{ ...payment, amountMicros: asMicros(intent.amountReceivedCents * microsOfCent), paymentIntent: intent.id },',
      'payments',
    ],
    'other-currency-credited': ["if (intent.currency !== 'usd')", "if (intent.currency === '')", 'payments'],
    'failed-refund-stays-debited': [
      "status !== 'failed' && status !== 'canceled'",
      "status !== 'canceled'",
      'payments',
    ],
  },
  'service/payments/payment-hint.ts': {
    'one-look-at-a-payment': [
      'const found = await paymentOf(services, event);',
      "const found = await paymentOf(services, event);\n  if ('accountId' in found && found.creditedMicros !== undefined) return { kind: 'succeeded' };",
      'payments',
    ],
    'event-of-any-mode': [
      'event.livemode !== (await services.livemode())',
      'event.livemode === undefined',
      'payments',
    ],
  },
  'service/payments/stripe/objects.ts': {
    'inquiry-is-debited': [
      'withdrawnCents: 0 - moved.reduce((sum, cents) => sum + cents, 0),',
      "withdrawnCents: moved.length > 1 ? 0 : integer(dispute['amount']),",
      'payments',
    ],
  },
  'service/payments/stripe/signature.ts': {
    'signature-of-the-right-length': [
      'one.byteLength === due.byteLength && timingSafeEqual(one, due)',
      'one.byteLength === due.byteLength',
      'payments',
    ],
  },
  'service/payments/auto-top-up.ts': {
    'cap-reached-by-one-more': [
      '(reservedMicros[month] ?? 0) + choice.amountMicros <= choice.monthlyCapMicros',
      '(reservedMicros[month] ?? 0) <= choice.monthlyCapMicros',
      'payments',
    ],
  },
  'service/payments/top-up.ts': {
    'last-payment-taken-as-known': [
      'if (!last || !partsOf(id) || (await services.payments.read(id as PaymentId))) return true;',
      'if (last ?? true) return true;',
      'payments',
    ],
    'new-key-for-each-repetition': [
      '    `dr_${id}`,\n',
      '    `dr_${id}_${services.clock.now()}`,\n',
      'payments',
    ],
    'reservation-back-after-no-answer': [
      "if (outcome.kind === 'unknown') return { kind: 'later', why: outcome.why };",
      "if (outcome.kind === 'unknown') return end(services, payment, null);",
      'payments',
    ],
  },
  'service/payments/stripe-payment-store.ts': {
    'month-of-the-end': [
      'reserve: { month, micros: 0 - amountMicros }',
      "reserve: { month: new Date(table.clock.now()).toISOString().slice(0, 7).replace('-', '_'), micros: 0 - amountMicros }",
      'payments',
    ],
    'reversal-of-any-version': [
      "disputedMicros = :disputed, version = version + :one',\n    ConditionExpression: 'version = :read',",
      "disputedMicros = :disputed, version = version + :one',\n    ConditionExpression: 'version = :read OR attribute_exists(pk)',",
      'payments',
    ],
    'credited-by-each-that-asks': [
      "'attribute_exists(pk) AND attribute_not_exists(creditedMicros)',",
      "'attribute_exists(pk)',",
      'payments',
    ],
    'two-payments-at-once': [
      '`#v = :read AND attribute_not_exists(#open) AND ${',
      '`#v = :read OR attribute_not_exists(#open) OR ${',
      'payments',
    ],
    'begins-in-a-restored-table': [
      "'untilMillis >= :young'",
      "'untilMillis >= :young OR attribute_exists(pk)'",
      'payments',
    ],
    'decline-does-not-pause': [
      'const paused: TopUpChange = isPausing ? pauseChange(pause) : {};',
      "const paused: TopUpChange = isPausing && state === 'unknown' ? pauseChange(pause) : {};",
      'payments',
    ],
    'dispute-does-not-pause': [
      "reason === 'dispute' ? [pauseChange('dispute')] : []",
      'amountMicros > 0 ? [pauseChange(reason)] : []',
      'payments',
    ],
  },
};
