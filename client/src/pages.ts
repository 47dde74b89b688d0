/** A list that the API gives page by page. */
import type { ApiPromise, CallOptions } from './http/call.ts';
import type { Transport } from './http/transport.ts';

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  /** What the next page begins with, or null after the last page. */
  readonly next_cursor: string | null;
}

/**
 * A list to iterate over. The iteration reads the next page when the items of the last one are used up.
 *
 * @example
 * ```ts
 * const newest = [];
 * for await (const creation of darkroom.creations.list()) {
 *   newest.push(creation);
 *   if (newest.length === 10) break;
 * }
 * const first = await darkroom.creations.list({ limit: 1 }).page();
 * console.log(newest[0]?.id === first.data[0]?.id); // true
 * ```
 */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** The first page alone. `next_cursor` goes into the filter of the next call. */
  page(): ApiPromise<Page<Item>>;
  /** Each page. A page can be empty although more follow. */
  pages(): AsyncGenerator<Page<Item>, void, undefined>;
}

/** `read` gives the page at a cursor, or the first page. */
export function pagesOf<Item>(read: (cursor: string | undefined) => ApiPromise<Page<Item>>): Pages<Item> {
  async function* pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await read(cursor);
      yield page;
      if (!page.has_more || page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }
  async function* items(): AsyncGenerator<Item, void, undefined> {
    for await (const page of pages()) yield* page.data;
  }
  return { page: () => read(undefined), pages, [Symbol.asyncIterator]: items };
}

/** @internal The list at a path. A cursor of the filter begins it. */
export function listAt<Item>(
  transport: Transport,
  path: string,
  filter: object & { readonly cursor?: string | undefined },
  options: CallOptions,
): Pages<Item> {
  return pagesOf((cursor) =>
    transport.call({ method: 'GET', path, query: { ...filter, cursor: cursor ?? filter.cursor }, options }),
  );
}
