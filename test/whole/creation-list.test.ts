/** GET /creations over the whole service: pages, cursors and filters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

const service = await sharedTestService();
afterAll(() => service.end());

const body = { model: 'sandbox-sketch', prompt: 'a canal' };
const submit = (by: Client): Promise<Answer> => service.send('/images/generate', { key: by.key, body });
const show = (id: string, by: Client): Promise<Answer> => service.send(`/creations/${id}`, { key: by.key });

describe('GET /creations', () => {
  const list = (by: Client, query = ''): Promise<Answer> =>
    service.send(`/creations${query}`, { key: by.key });
  const pageSchema = z.object({
    data: z.array(z.looseObject({ id: z.string() })),
    has_more: z.boolean(),
    next_cursor: z.nullable(z.string()),
  });
  type Page = z.infer<typeof pageSchema>;
  const pageOf = async (by: Client, query = ''): Promise<Page> =>
    pageSchema.parse((await list(by, query)).body);
  let owner: Client;
  const ids: string[] = [];
  beforeAll(async () => {
    owner = await service.client({ postRate: '1000', maxConcurrent: '100' });
    service.machine.faults.set({ call: 'states:StartExecution', error: 'AccessDenied', every: 1 });
    for (let count = 0; count < 5; count += 1)
      ids.unshift(String(refusalOf(await submit(owner)).details['creation_id']));
    service.machine.faults.clear();
  });

  it("The list has the account's creations, the newest first, each as GET /creations/{id} shows it", async () => {
    const page = await pageOf(owner);
    expect(page.data.map(({ id }) => id)).toEqual(ids);
    expect([page.has_more, page.next_cursor]).toEqual([false, null]);
    expect(page.data[0]).toEqual((await show(ids[0] ?? '', owner)).body);
  });

  it('The pages by limit and cursor have no gap and no repeat', async () => {
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await pageOf(owner, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.has_more).toBe(page.next_cursor !== null);
      seen.push(...page.data.map(({ id }) => id));
      sizes.push(page.data.length);
      cursor = page.next_cursor;
    }
    expect([seen, sizes]).toEqual([ids, [2, 2, 1]]);
  });

  it('The list shows nothing of another account, even with a cursor of that account', async () => {
    const stranger = await service.client();
    const { next_cursor: cursor } = await pageOf(owner, '?limit=1');
    expect((await list(stranger)).body).toEqual({ data: [], has_more: false, next_cursor: null });
    expect((await pageOf(stranger, `?cursor=${cursor ?? ''}`)).data).toEqual([]);
  });

  it('The list can be narrowed to one status or one model', async () => {
    const sizes = async (query: string): Promise<number> => (await pageOf(owner, query)).data.length;
    expect([
      await sizes('?status=failed'),
      await sizes('?status=completed'),
      await sizes('?status=failed&model=sandbox-sketch'),
    ]).toEqual([5, 0, 5]);
    expect([await sizes('?model=sandbox-pro'), await sizes('?model=constructor')]).toEqual([0, 0]);
    const page = await pageOf(owner, '?status=failed&limit=2');
    expect([page.data.map(({ id }) => id), page.has_more]).toEqual([ids.slice(0, 2), true]);
    const rest = await pageOf(owner, `?status=failed&cursor=${page.next_cursor ?? ''}`);
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(2));
  });

  it('The refusal names every wrong parameter', async () => {
    expect(fieldsOf(await list(owner, '?users=me&limit=0&status=done&cursor=x&model='))).toEqual([
      'users: unknown_parameter',
      'limit: invalid_value',
      'cursor: invalid_value',
      'status: invalid_value',
      'model: invalid_value',
    ]);
  });
});

everyAnswer(() => service);
