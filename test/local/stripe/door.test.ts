/** The fake of Stripe as `npm start` serves it: its page, its control, its file, and its clock. */
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createControl } from '../../../local/control/control.ts';
import { listenOnLoopback } from '../../../local/http.ts';
import type { Schedule } from '../../../local/schedule.ts';
import { createLocalStripe, type LocalStripe } from '../../../local/stripe/local-stripe.ts';
import { createStream } from '../../../lab/simulation/world/dice.ts';
import { newFolder } from '../machine-fixture.ts';

const session = new URLSearchParams({
  mode: 'payment',
  'line_items[0][quantity]': '1',
  'line_items[0][price_data][currency]': 'usd',
  'line_items[0][price_data][unit_amount]': '2500',
  'line_items[0][price_data][product_data][name]': 'Credit',
  success_url: 'http://127.0.0.1:1/wallet?session={CHECKOUT_SESSION_ID}&why=ü',
  cancel_url: 'http://127.0.0.1:1/wallet?a="b"',
}).toString();
const headers = { authorization: 'Bearer rk_test_fixture', 'stripe-version': '2026-10-28.endive' };

/** The answer of POST /_local/payments. */
interface Acted {
  readonly session?: object;
  readonly error?: { readonly message: string };
}

describe('the fake of Stripe behind npm start', () => {
  const file = path.join(newFolder(afterAll), 'stripe.json');
  let now = 1_795_780_800_000;
  let stripe: LocalStripe;
  let url = '';
  const server = createServer((incoming, outgoing) => {
    const nobody = (): Promise<never> => Promise.reject(new Error('nobody is there'));
    const control = createControl({
      inbox: { handle: nobody, close: () => undefined },
      topics: { mails: () => [], confirm: () => false, unsubscribe: () => false },
      faults: undefined as never,
      advance: nobody,
      crash: () => 0,
      state: () => ({}),
      prove: () => '',
      publication: { answer: nobody },
      issuer: nobody,
      stripe: stripe.handle,
    });
    void control(incoming, outgoing);
  });
  const open = (): LocalStripe =>
    createLocalStripe({ file, url: `${url}/_local/stripe`, now: () => now, random: createStream(2) });
  beforeAll(async () => {
    url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    stripe = open();
  });
  afterAll(() => {
    stripe.close();
    server.closeAllConnections();
    server.close();
  });
  const act = async (action: object): Promise<Acted> => {
    const response = await fetch(`${url}/_local/payments`, { method: 'POST', body: JSON.stringify(action) });
    return (await response.json()) as Acted;
  };
  const newSession = async (): Promise<{ readonly id: string; readonly url: string }> => {
    const sent = { method: 'POST', headers, body: session };
    return (await fetch(`${url}/_local/stripe/v1/checkout/sessions`, sent)).json() as never;
  };
  const pay = (page: string, card: string): Promise<Response> =>
    fetch(page, { method: 'POST', body: new URLSearchParams({ card }), redirect: 'manual' });

  it('The page shows amount and cards, says why a card was declined, and leads to the success address', async () => {
    const open = await newSession();
    expect(open.url).toBe(`${url}/_local/stripe/pay/${open.id}`);
    const page = await (await fetch(open.url)).text();
    expect(page).toContain('$25.00');
    expect(page).toContain('href="http://127.0.0.1:1/wallet?a=&quot;b&quot;"');
    expect(page.match(/<button name="card"/g)).toHaveLength(11);
    expect(await (await pay(open.url, 'expired')).text()).toContain('Your card has expired.');
    expect(await (await pay(open.url, 'constructor')).text()).toContain('There is no such card.');
    const paid = await pay(open.url, 'pays');
    expect([paid.status, paid.headers.get('location')]).toEqual([
      303,
      `http://127.0.0.1:1/wallet?session=${open.id}&why=%C3%BC`,
    ]);
    expect(await (await fetch(open.url)).text()).toContain('This payment is complete.');
  });

  it('The control names what is wrong with an action, and changes nothing', async () => {
    const refusal = async (action: object): Promise<string> => (await act(action)).error?.message ?? '';
    expect(await refusal({ action: 'refund' })).toMatch(/payment_intent/);
    expect(await refusal({ action: 'dance' })).toMatch(/'refund'/);
    expect(await refusal({ action: 'refund', payment_intent: 'pi_1' })).toMatch(/no PaymentIntent pi_1/);
    const { payment_intents } = (await (await fetch(`${url}/_local/payments`)).json()) as never;
    expect(payment_intents).toHaveLength(1);
  });

  it('A start goes on with what the last one has left, and an advance stops at what is due', async () => {
    const { id } = await newSession();
    const { session: complete } = await act({ action: 'pay', session: id, card: 'bank_succeeds' });
    expect(complete).toMatchObject({ status: 'complete', payment_status: 'unpaid' });
    stripe.close();
    stripe = open();
    stripe.begin();
    const fired: number[] = [];
    const schedule: Schedule = {
      start: () => undefined,
      pause: () => undefined,
      nextAt: () => now + 3_600_000,
      fireDue: () => Promise.resolve(void fired.push(now)),
      state: () => [],
    };
    const joined = stripe.join(schedule);
    joined.pause();
    await fetch(`${url}/_local/payments`);
    const due = now + 300_000;
    expect(joined.nextAt()).toBe(due);
    now = due;
    await joined.fireDue();
    expect(fired).toEqual([due]);
    const answer = await fetch(`${url}/_local/stripe/v1/checkout/sessions/${id}`, { headers });
    expect(await answer.json()).toMatchObject({ payment_status: 'paid' });
  });
});
