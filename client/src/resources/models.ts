import { apiPromise, type ApiPromise } from '../http/api-promise.ts';
import type { CallOptions } from '../http/call-options.ts';
import type { Transport } from '../http/transport.ts';
import type { Model, ModelList } from '../types/index.ts';

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
    const list = this.#transport.answer<ModelList>({ method: 'GET', path: '/models', options });
    return apiPromise(list.then(({ value, response }) => ({ value: value.data, response })));
  }
}
