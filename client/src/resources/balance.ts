import type { ApiPromise } from '../http/api-promise.ts';
import type { CallOptions } from '../http/call-options.ts';
import type { Transport } from '../http/transport.ts';
import type { Balance } from '../types/index.ts';

/** Reads the wallet. */
export class BalanceCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * What the account can spend, and what the key has spent. With `user`, also what it has spent for this
   * user of yours.
   *
   * @example
   * ```ts
   * const { available, currency } = await darkroom.balance.get();
   * console.log(available > 0, currency); // true USD
   * ```
   */
  get(options: CallOptions & { readonly user?: string | undefined } = {}): ApiPromise<Balance> {
    const { user, ...call } = options;
    return this.#transport.call({ method: 'GET', path: '/balance', query: { user }, options: call });
  }
}
