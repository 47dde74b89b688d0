import type { ApiPromise, CallOptions, PostOptions } from '../http/call.ts';
import { idInPath } from '../http/id-in-path.ts';
import type { Transport } from '../http/transport.ts';
import type { WebhookEndpoint, WebhookEndpointChange, WebhookEndpointRequest } from '../types/generated.ts';

const root = '/webhooks/endpoints';
const at = (id: string): string => `${root}/${idInPath(id)}`;

/** Manages the addresses that get the events and notices of the account: at most ten. */
export class EndpointCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The endpoints of the account, the oldest first. */
  list(options: CallOptions = {}): ApiPromise<readonly WebhookEndpoint[]> {
    return this.#transport.rows(root, options);
  }

  /**
   * Adds an endpoint.
   *
   * @example
   * ```ts
   * const { endpoints } = darkroom.webhooks;
   * const { id } = await endpoints.create({ url: 'https://example.com/hooks', events: ['creation.completed'] });
   * await endpoints.update(id, { enabled: false });
   * const listed = await endpoints.list();
   * console.log(listed.find((endpoint) => endpoint.id === id)?.enabled); // false
   * await endpoints.delete(id);
   * ```
   */
  create(body: WebhookEndpointRequest, options: PostOptions = {}): ApiPromise<WebhookEndpoint> {
    return this.#transport.call({ method: 'POST', path: root, body, options });
  }

  /** Changes the members that are named. Every other member stays. */
  update(id: string, body: WebhookEndpointChange, options: CallOptions = {}): ApiPromise<WebhookEndpoint> {
    return this.#transport.call({ method: 'PATCH', path: at(id), body, options });
  }

  /** The endpoint gets nothing more. */
  delete(id: string, options: CallOptions = {}): ApiPromise<void> {
    return this.#transport.call({ method: 'DELETE', path: at(id), options });
  }
}
