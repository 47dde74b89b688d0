/** A list that the API gives page by page. */
import type { ApiPromise } from './http/api-promise.ts';

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  /** What the next page begins with, or null behind the last page. */
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
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => ApiPromise<Page<Item>>;

  /** @internal */
  constructor(read: (cursor: string | undefined) => ApiPromise<Page<Item>>) {
    this.#read = read;
  }

  /** The first page alone. `next_cursor` goes into the filter of the next call. */
  page(): ApiPromise<Page<Item>> {
    return this.#read(undefined);
  }

  /** Each item of each page. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Each page. A page can be empty although more follow. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.#read(cursor);
      yield page;
      if (!page.has_more || page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }
}
