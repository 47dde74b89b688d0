import type { ApiPromise, CallOptions, PostOptions } from '../http/call.ts';
import type { Transport } from '../http/transport.ts';
import type { CompletedCreation, Creation, ResultsBucket, ResultsBucketRequest } from '../types/generated.ts';
import { idOf } from './creations.ts';

const path = '/results/bucket';

/** Sets the bucket of the account that gets a copy of each image, at any service that speaks S3. */
export class BucketCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The bucket, without its keys. Throws NotFound when the account has none. */
  get(options: CallOptions = {}): ApiPromise<ResultsBucket> {
    return this.#transport.call({ method: 'GET', path, options });
  }

  /**
   * Sets the bucket, or replaces it. The image of each later request is copied there when it is completed. The
   * service first stores a small object; throws InvalidRequest with what the bucket answered when it takes none
   * (`bucket_refused` in `errors`), and the bucket of before stays.
   *
   * @example
   * ```ts
   * const boat = await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a boat' });
   * const { BUCKET_KEY = '', BUCKET_SECRET = '' } = process.env;
   * const { bucket } = darkroom.results;
   * const { prefix } = await bucket.set({
   *   endpoint: 'https://s3.example.com',
   *   bucket: 'our-pictures',
   *   prefix: 'darkroom/',
   *   region: 'eu-central-1',
   *   credentials: { access_key_id: BUCKET_KEY, secret_access_key: BUCKET_SECRET },
   * });
   * console.log(prefix); // darkroom/
   * // An image that is older than the bucket.
   * const { copy } = await bucket.copy(boat);
   * console.log(copy?.status); // pending
   * await bucket.remove();
   * ```
   */
  set(body: ResultsBucketRequest, options: CallOptions = {}): ApiPromise<ResultsBucket> {
    return this.#transport.call({ method: 'PUT', path, body, options });
  }

  /**
   * Copies the image of a completed creation again, in a new round of attempts, and returns the creation with
   * its `copy`. Throws NotFound without a bucket or creation, and InvalidRequest with the reason
   * `not_completed`, `no_results`, or `still_pending` while an attempt is owed. That is also what a
   * repetition gets whose first attempt began the round and lost its answer: the error then has a `cause`.
   */
  copy(creation: Creation | string, options: PostOptions = {}): ApiPromise<CompletedCreation> {
    return this.#transport.call({ method: 'POST', path, body: { creation_id: idOf(creation) }, options });
  }

  /** Stops all copies, also those that are due. Objects in the bucket stay. A repetition changes nothing. */
  remove(options: CallOptions = {}): ApiPromise<void> {
    return this.#transport.call({ method: 'DELETE', path, options });
  }
}
