import type { ApiPromise, CallOptions } from '../http/call.ts';
import type { Transport } from '../http/transport.ts';
import type { Balance, Model } from '../types/generated.ts';

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

/** Reads the catalog. */
export class ModelCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The models that the account may use. A model that is not `available` says why in `unavailable_reason`.
   *
   * @example
   * ```ts
   * const models = await darkroom.models.list();
   * const sketch = models.find((model) => model.id === 'sandbox-sketch');
   * console.log(sketch?.default_resolution, sketch?.pricing[0]?.usd); // 1K 0.01
   * ```
   */
  list(options: CallOptions = {}): ApiPromise<readonly Model[]> {
    return this.#transport.rows('/models', options);
  }
}
