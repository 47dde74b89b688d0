/** What a month changes. The service is not shared, because the invitation of its demo account would be over. */
import { afterAll, expect, it } from 'vitest';
import { type Answer, startTestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { withinOneMinute } from './refusal.ts';

const service = await startTestService();
afterAll(() => service.end());

const submit = (key: string, prompt = 'a lake'): Promise<Answer> =>
  service.send('/images/generate', { key, body: { model: 'sandbox-sketch', prompt } });

it('The budget of a key starts anew with each UTC month, and a refund goes back to the month of its charge', async () => {
  const { account, key } = await service.client({ monthlyCap: '0.02' });
  const statuses = async (count: number): Promise<number[]> => {
    const seen: number[] = [];
    for (let sent = 0; sent < count; sent += 1) seen.push((await submit(key)).status);
    return seen;
  };
  const today = new Date(service.machine.clock.now() + 60_000);
  const turn = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1);
  const untilTurn = (): number => (turn - service.machine.clock.now()) / 1000;
  service.jump(untilTurn() - 20);
  withinOneMinute(service);
  // The creation is accepted and not started. The reconciler starts it in the next month, and it fails then.
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  const failing = await submit(key, '[sandbox:fail]');
  service.machine.faults.clear();
  expect([failing.status, ...(await statuses(1))]).toEqual([202, 202]);
  expect((await submit(key)).body).toMatchObject({
    error: { details: { spent: 0.02, resets_at: new Date(turn).toISOString() } },
  });

  service.jump(untilTurn() + 1);
  expect(await service.send('/balance', { key })).toMatchObject({
    body: { key: { monthly_cap: 0.02, spent: 0 } },
  });
  expect(await statuses(3)).toEqual([202, 202, 402]);

  await service.machine.advance(150);
  expect(await service.ended(idOf(failing))).toMatchObject({ status: 'failed' });
  const [stored] = await service.operator.accounts.listKeys(account.id);
  const month = (at: number): string => new Date(at).toISOString().slice(0, 7).replace('-', '_');
  expect(stored?.spent).toEqual({ [month(turn - 1)]: 10_000, [month(turn)]: 20_000 });
  expect(await statuses(1)).toEqual([402]);
});

it('After 30 days the lists result_urls and results are empty, result_expires_at lies in the past, and the file is gone', async () => {
  const { key } = await service.client();
  const id = idOf(await submit(key));
  await service.ended(id);
  const show = async () =>
    (await service.send(`/creations/${id}`, { key })).body as {
      result_urls: string[];
      result_expires_at: string;
    };
  const [url = ''] = (await show()).result_urls;
  expect(url).toMatch(/\/[\w-]{32,}\.(png|jpg|jpeg)$/);
  service.jump(32 * 86_400);
  await service.machine.advance(60);
  const later = await show();
  expect(later).toMatchObject({ status: 'completed', result_urls: [], results: [] });
  expect(Date.parse(later.result_expires_at)).toBeLessThan(service.machine.clock.now());
  expect((await fetch(url)).status).toBe(403);
});

everyAnswer(() => service);
