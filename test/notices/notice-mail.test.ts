import { describe, expect, it } from 'vitest';
import { shownAddress } from '../../service/notices/mail-readers.ts';
import { mailOf } from '../../service/notices/notice-mail.ts';
import { noticeTypes } from '../../service/notices/notice.ts';

const account = { available: 3.5, low_balance: 5, currency: 'USD', required: 4 };
const parts = {
  account,
  key: { name: 'web', cap: 'monthly', level: 80, limit: 10, spent: 8.2, user: 'customer 7' },
  budget: { month: '2026-11', level: 100, limit: 20, spent: 21 },
  webhooks: { failed_attempts: 11 },
  payment: { amount: 40 },
  endpoint: { url: 'https://hooks.test/secret-path', failing_since: '2026-11-17T12:00:00.000Z' },
};
const at = { account: 'ACME', portalUrl: 'https://portal.test/portal/' };

describe('The e-mail of a notice', () => {
  it.each([
    ['wallet.low', 'the balance of ACME is below 5.00 USD', 'has 3.50 USD left', 'wallet'],
    ['wallet.empty', 'the balance of ACME is used up', 'needed 4.00 USD', 'wallet'],
    ['key.cap_reached', 'the key web of ACME has reached 80 % of its monthly cap', '8.20 USD', 'keys'],
    ['budget.reached', 'ACME has spent 100 % of its budget of 2026-11', '21.00 USD', 'usage'],
    ['payment.received', '40.00 USD came in for ACME', 'credited with 40.00 USD', 'wallet'],
    ['payment.failed', 'the automatic top-up of ACME took no money', 'did not say', 'wallet'],
    ['payment.reversed', 'a payment of ACME was refunded', 'went back', 'wallet'],
    ['webhook.failing', 'the webhooks of ACME fail', '11 attempts', 'deliveries'],
    ['endpoint.failing', 'an endpoint of ACME fails', 'hooks.test', 'deliveries'],
    ['endpoint.disabled', 'an endpoint of ACME is switched off', 'hooks.test', 'webhooks'],
  ])('%s says what happened and leads to its page', (notice, subject, words, page) => {
    const mail = mailOf(JSON.stringify({ notice, ...parts }), at);
    expect(mail.subject).toBe(`Darkroom: ${subject}`);
    expect(mail.text).toContain(words);
    expect(mail.text.split('\n\n')).toContain(`https://portal.test/portal/${page}`);
    // Neither the path of an address nor whom a client renders for.
    expect(mail.text).not.toMatch(/secret-path|customer 7/);
  });

  it.each([
    ['payment.failed', 'authentication_required', 40, 'Pay once yourself, and let the card be saved:'],
    ['payment.failed', 'declined', 40, 'The bank has declined the payment.'],
    ['payment.failed', 'card_expired', 40, 'has expired'],
    ['payment.failed', 'monthly_cap', null, 'goes on next month'],
    ['payment.failed', 'unknown', 40, 'Ask the operator before you pay again:'],
    ['payment.reversed', 'refund', -40, '40.00 USD went back to the payer.'],
    ['payment.reversed', 'refund', 40, 'A refund did not reach the payer, and 40.00 USD came back.'],
    ['payment.reversed', 'dispute', -40, '40.00 USD was taken back, and payments are closed.'],
    ['payment.reversed', 'dispute_won', 40, 'ended in your favour, and 40.00 USD came back.'],
  ])('%s with the reason %s and the amount %s has words of its own', (notice, reason, amount, words) => {
    const body = { notice, account, payment: { amount, reason } };
    expect(mailOf(JSON.stringify(body), at).text).toContain(words);
  });

  it('Each notice has one', () => {
    for (const notice of noticeTypes)
      expect(mailOf(JSON.stringify({ notice, ...parts }), at).subject).toMatch(/^Darkroom: \S/);
  });
});

it.each([
  ['olga@studio.test', 'mailto:o…@studio.test'],
  ['"a@b"@studio.test', 'mailto:"…@studio.test'],
])('The log of deliveries shows of the address %s only %s', (address, shown) => {
  expect(shownAddress({ address })).toBe(shown);
});
