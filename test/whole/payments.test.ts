/** Payments with the real bundles, over sockets: the portal, the fake of Stripe with its page, its events, the worker. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, startTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { atStripe, eventsAtStripe, openPayer, type Payer } from './payer.ts';

const service = await startTestService({ takesPayments: true });
afterAll(async () => service.end());

let payer: Payer;
let client: Client;
let count = 0;
beforeEach(async () => {
  await atStripe(service, { action: 'clear' });
  count += 1;
  client = await service.client({ balance: '1' });
  payer = await openPayer(service, client.account.id, `owner${count}@example.com`);
});

const tenMinutes = 660;

describe('a payment by the page of Stripe', () => {
  it('is credited exactly, by one row, as soon as the event of Stripe comes, and the payer is led back', async () => {
    const begun = await payer.begin(20);
    const back = new URL('wallet', service.machine.portalUrl);
    back.searchParams.set('payment', begun.id);
    expect(await payer.pay(begun)).toBe(back.href);
    await payer.credited(21);
    expect(await payer.rows()).toEqual([20]);
    expect((await service.send('/balance', { key: client.key })).body).toMatchObject({ available: 21 });
    expect(await payer.shown(begun)).toMatchObject({ state: 'succeeded', amount: 20, credited: 20 });
    expect(await service.audit()).toEqual([]);
  });

  it('is credited once, although its event comes five times, its page asks, and the list of events is read', async () => {
    const begun = await payer.begin(5);
    await payer.pay(begun);
    const [event = ''] = await eventsAtStripe(service, 'payment_intent.succeeded');
    await Promise.all([
      ...Array.from({ length: 5 }, async () => atStripe(service, { action: 'repeat', event })),
      ...Array.from({ length: 3 }, async () => payer.shown(begun)),
      service.machine.advance(tenMinutes),
    ]);
    expect([await payer.balance(), await payer.rows()]).toEqual([6, [5]]);
    expect(await service.audit()).toEqual([]);
  });

  it('is credited within eleven minutes when no event of Stripe arrives', async () => {
    await atStripe(service, { action: 'events', how: 'drop', type: '', times: null });
    const begun = await payer.begin(7);
    await payer.pay(begun);
    expect(await payer.balance()).toBe(1);
    await service.machine.advance(tenMinutes);
    expect([await payer.balance(), await payer.rows()]).toEqual([8, [7]]);
  });

  it('is credited by the page of the wallet when the payer comes back before any event', async () => {
    await atStripe(service, { action: 'events', how: 'drop', type: '', times: null });
    const begun = await payer.begin(9);
    await payer.pay(begun);
    expect(await payer.shown(begun)).toMatchObject({ state: 'succeeded', credited: 9 });
    expect([await payer.balance(), await payer.rows()]).toEqual([10, [9]]);
  });

  it.each(['alter', 'unsigned', 'stale', 'v0'] as const)(
    'changes nothing by an event that Stripe did not send so or not just now (%s)',
    async (how) => {
      const refused = (): number =>
        service.log.filter((line) => line.includes('"payment_event_refused"')).length;
      const before = refused();
      await atStripe(service, { action: 'events', how, type: '', times: null });
      await payer.pay(await payer.begin(11));
      await expect.poll(refused, { timeout: 5_000 }).toBeGreaterThan(before);
      expect([await payer.balance(), await payer.rows()]).toEqual([1, []]);
    },
  );
});

everyAnswer(() => service);
