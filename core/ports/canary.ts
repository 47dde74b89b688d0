/** The public API as the canary sees it: over the network, with a key, as a client does. */

export interface CanaryAnswer {
  readonly status: number;
  /** The JSON of the body. Undefined when the body is no JSON. */
  readonly body: unknown;
}

export interface PublicApi {
  /**
   * Sends a POST with a body, or a GET without one. Rejects when no answer comes in time.
   * @param path below the root of the API, such as "/balance"
   */
  send(
    path: string,
    options?: { readonly body?: object; readonly idempotencyKey?: string },
  ): Promise<CanaryAnswer>;
  /** Fetches a picture as anybody can, without a key. Rejects when no answer comes in time. */
  fetchPicture(url: string): Promise<{ readonly status: number; readonly bytes: number }>;
}
