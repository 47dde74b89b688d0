import { describe, expect, it } from 'vitest';
import { json, stub, thrownBy } from './stub.ts';

const page = (ids: readonly string[], next: string | null): Response =>
  json({ data: ids.map((id) => ({ id })), has_more: next !== null, next_cursor: next });

describe('creations.list', () => {
  it('The iteration reads page after page, an empty one too, and keeps the filter', async () => {
    const { darkroom, sent } = stub([page(['a', 'b'], 'A+/='), page([], 'B'), page(['c'], null)]);
    const ids: string[] = [];
    for await (const { id } of darkroom.creations.list({ status: 'failed', limit: 2 })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ path }) => path)).toEqual([
      '/creations?status=failed&limit=2',
      '/creations?status=failed&limit=2&cursor=A%2B%2F%3D',
      '/creations?status=failed&limit=2&cursor=B',
    ]);
  });

  it('A loop that ends early reads no further page', async () => {
    const { darkroom, sent } = stub([page(['a', 'b'], 'A')]);
    for await (const { id } of darkroom.creations.list()) if (id === 'a') break;
    expect(sent.map(({ path }) => path)).toEqual(['/creations']);
  });

  it('page() gives one page, and the filter can begin behind a cursor', async () => {
    const { darkroom, sent } = stub([page(['c'], 'C'), page(['d'], null)]);
    const first = await darkroom.creations.list({ cursor: 'B' }).page();
    expect(first).toEqual({ data: [{ id: 'c' }], has_more: true, next_cursor: 'C' });
    await darkroom.creations.list({ cursor: first.next_cursor ?? '' }).page();
    expect(sent.map(({ path }) => path)).toEqual(['/creations?cursor=B', '/creations?cursor=C']);
  });
});

const events = (ids: readonly string[], next: string): Response =>
  json({ data: ids.map((id) => ({ id })), next_cursor: next });

describe('events', () => {
  it('follow() begins with the cursor of now, and then holds each reading', async () => {
    const { darkroom, sent } = stub([events([], 'one'), events(['a', 'b'], 'two'), events(['c'], 'three')]);
    const seen: string[] = [];
    for await (const { id } of darkroom.events.follow({ include: 'notices' })) {
      seen.push(id);
      if (id === 'c') break;
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ at }) => at)).toEqual([0, 0, 0]);
    expect(sent.map(({ path }) => path)).toEqual([
      '/events?include=notices',
      '/events?after=one&wait=20&include=notices',
      '/events?after=two&wait=20&include=notices',
    ]);
  });

  it('A cursor is told when the loop has finished with every event before it, and not earlier', async () => {
    const { darkroom } = stub([events(['a', 'b'], 'two'), events([], 'two'), events(['c'], 'three')]);
    const story: string[] = [];
    const followed = darkroom.events.follow({
      after: 'one',
      onCursor: async (cursor) => {
        await Promise.resolve();
        story.push(`cursor ${cursor}`);
      },
    });
    for await (const { id } of followed) {
      story.push(id);
      if (id === 'c') break;
    }
    expect(story).toEqual(['a', 'b', 'cursor two', 'c']);
  });

  it('An empty answer that comes at once is not asked for again within the second', async () => {
    const { darkroom, sent } = stub([events([], 'one'), events([], 'one'), events(['a'], 'two')]);
    for await (const _event of darkroom.events.follow({ after: 'one' })) break;
    expect(sent.map(({ at }) => at)).toEqual([0, 1000, 2000]);
  });

  it('A trouble that may pass does not end the reading, and an error that stays does', async () => {
    const { darkroom, sent } = stub([
      ...Array.from({ length: 9 }, () => new TypeError('fetch failed')),
      events(['a'], 'two'),
      json({ error: { code: 'ERR_API_KEY_INVALID', message: 'no', details: {} } }, 401),
    ]);
    const followed = darkroom.events.follow({ after: 'one' });
    expect(await followed.next()).toEqual({ done: false, value: { id: 'a' } });
    expect(sent).toHaveLength(10);
    expect(await thrownBy(followed.next())).toMatchObject({ name: 'AuthenticationFailed' });
  });
});
