import { afterAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { anyText, costOf, idOf, monthBegin } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { answering, png, startImageOrigin } from './image-origin.ts';
import { refusalOf } from './refusal.ts';

const [service, origin] = await Promise.all([sharedTestService(), startImageOrigin()]);
const client = await service.client({ postRate: '1000' });
afterAll(async () => {
  await origin.close();
  await service.end();
});

const quote = (body: object, by: Client = client): Promise<Answer> =>
  service.send('/images/quote', { key: by.key, body });
const submit = (body: object, by: Client = client): Promise<Answer> =>
  service.send('/images/generate', { key: by.key, body });
const balance = async (by: Client): Promise<unknown> =>
  (await service.send('/balance', { key: by.key })).body;

describe('POST /images/quote', () => {
  it('A quote has the price, what would be rendered and whether the wallet covers the price', async () => {
    expect(
      (
        await quote({
          model: 'sandbox-pro',
          prompt: 'x',
          resolution: '2K',
          image_urls: ['https://example.com/a.png', 'https://example.com/b.png'],
        })
      ).body,
    ).toEqual({
      cost: 0.14,
      currency: 'USD',
      model: 'sandbox-pro',
      resolution: '2K',
      aspect_ratio: '1:1',
      output_format: 'jpeg',
      input_images: 2,
      available: 25,
      sufficient: true,
    });
  });

  it('A quote fetches nothing and charges nothing', async () => {
    const url = origin.at('/seen.png', answering(200, png(100, 100)));
    expect((await quote({ model: 'sandbox-pro', image_urls: [url] })).status).toBe(200);
    expect(origin.asked).toEqual([]);
    expect((await service.operator.wallet.ledger(client.account.id)).map(({ kind }) => kind)).toEqual([
      'top_up',
    ]);
  });

  it('A quote above the wallet says so and is not refused', async () => {
    const poor = await service.client({ balance: '0.03' });
    expect(await quote({ model: 'sandbox-standard', prompt: 'x' }, poor)).toMatchObject({
      status: 200,
      body: { cost: 0.04, available: 0.03, sufficient: false },
    });
  });

  it('The quoted price is charged later, and depends only on model, resolution and number of source images', async () => {
    const url = origin.at('/source.png', answering(200, png(100, 100)));
    for (const body of [
      { model: 'sandbox-sketch', prompt: 'short' },
      {
        model: 'sandbox-sketch',
        prompt: 'long '.repeat(150),
        aspect_ratio: '3:2',
        output_format: 'jpeg',
        seed: 5,
      },
      { model: 'sandbox-standard', prompt: 'x', resolution: '1K', image_urls: [url, url, url] },
    ]) {
      const [quoted, submitted] = [await quote(body), await submit(body)];
      expect(costOf(submitted)).toBe(costOf(quoted));
    }
  });
});

describe('402 ERR_INSUFFICIENT_BALANCE', () => {
  it('The refusal of a wallet and credit line below the cost has required, available, currency and top_up_url', async () => {
    const poor = await service.client({ balance: '0.01', creditLine: '0.02' });
    expect(refusalOf(await submit({ model: 'sandbox-standard', prompt: 'x' }, poor))).toEqual({
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: {
        required: 0.04,
        available: 0.03,
        currency: 'USD',
        top_up_url: new URL('wallet', service.machine.portalUrl).href,
      },
    });
  });

  it('A credit line lets the balance fall below zero, as far as the credit line goes', async () => {
    const borrowing = await service.client({ balance: '0.01', creditLine: '0.03' });
    expect((await submit({ model: 'sandbox-standard', prompt: 'x' }, borrowing)).status).toBe(202);
    expect(await balance(borrowing)).toMatchObject({ available: 0, balance: -0.03, credit_line: 0.03 });
    expect(
      refusalOf(await submit({ model: 'sandbox-sketch', prompt: 'x' }, borrowing)).details,
    ).toMatchObject({ required: 0.01, available: 0 });
  });
});

describe('GET /balance', () => {
  it('The balance has what can be spent, what is open and what this key may still spend this month', async () => {
    const owner = await service.client({ balance: '1.5', creditLine: '0.5', monthlyCap: '0.1' });
    await submit({ model: 'sandbox-standard', prompt: '[sandbox:hang]' }, owner);
    expect(await balance(owner)).toEqual({
      available: 1.96,
      balance: 1.46,
      credit_line: 0.5,
      currency: 'USD',
      in_flight: 1,
      max_concurrent: 20,
      key: {
        monthly_cap: 0.1,
        spent: 0.04,
        resets_at: monthBegin,
        daily_cap: null,
        spent_today: 0.04,
        day_resets_at: anyText,
        total_cap: null,
        spent_total: 0.04,
        per_user_monthly_cap: null,
        models: null,
        expires_at: null,
        user: null,
      },
    });
  });

  it('The balance is whole again after a failure: the charge came first and was refunded in full', async () => {
    const owner = await service.client({ balance: '1', monthlyCap: '1' });
    const id = idOf(await submit({ model: 'sandbox-sketch', prompt: '[sandbox:fail]' }, owner));
    await service.ended(id);
    expect(await balance(owner)).toMatchObject({ available: 1, in_flight: 0, key: { spent: 0 } });
    const rows = (await service.operator.wallet.ledger(owner.account.id)).map(({ kind, amountMicros }) => [
      kind,
      amountMicros,
    ]);
    expect(rows).toEqual([
      ['top_up', 1_000_000],
      ['charge', -10_000],
      ['refund', 10_000],
    ]);
  });
});

everyAnswer(() => service);
