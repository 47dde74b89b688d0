import type { CallOptions } from '../http/call.ts';
import type { Transport } from '../http/transport.ts';
import { listAt, type Pages } from '../pages.ts';
import type { LoggedRequest, RequestDoor } from '../types/generated.ts';

/** Which requests to list. */
export interface RequestFilter {
  readonly outcome?: 'accepted' | 'refused' | undefined;
  /** A status such as 429, or 4xx or 5xx. */
  readonly status?: string | undefined;
  /** The code of a refusal, such as ERR_RATE_LIMIT. */
  readonly code?: LoggedRequest['code'] | undefined;
  /** The id of a key. */
  readonly key?: string | undefined;
  readonly door?: RequestDoor | undefined;
  /** RFC 3339. */
  readonly from?: string | undefined;
  /** RFC 3339. */
  readonly to?: string | undefined;
  /** The size of a page: 1 to 100. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Reads the log of requests. */
export class RequestCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The requests of the last seven days, the newest first, also those that were refused.
   *
   * @example
   * ```ts
   * const { data } = await darkroom.requests.list({ outcome: 'refused', limit: 5 }).page();
   * for (const request of data) console.error(request.status, request.code, request.field);
   * console.log(data.length <= 5); // true
   * ```
   */
  list(filter: RequestFilter = {}, options: CallOptions = {}): Pages<LoggedRequest> {
    return listAt(this.#transport, '/requests', filter, options);
  }
}
