/** The client. */
import { DarkroomError } from './errors.ts';
import { printAsText, transportOf } from './http/connect.ts';
import { authorizationBy } from './http/user-token.ts';
import { type DarkroomOptions, isPage, keyOf } from './options.ts';
import { BalanceCalls, ModelCalls } from './resources/account.ts';
import { CreationCalls } from './resources/creations.ts';
import { EndpointCalls } from './resources/endpoints.ts';
import { EventCalls } from './resources/events.ts';
import { ImageCalls } from './resources/images.ts';
import { RequestCalls } from './resources/requests.ts';
import { ResultCalls, UploadCalls } from './resources/transfers.ts';
import { UserTokenCalls } from './resources/user-tokens.ts';

/**
 * The client of a Darkroom service. One client serves a whole program.
 *
 * @example
 * ```ts
 * import { Darkroom } from 'darkroom-client';
 *
 * // Reads DARKROOM_API_KEY and DARKROOM_BASE_URL.
 * const darkroom = new Darkroom({ maxRetries: 5, onRetry: ({ path, error }) => console.error(path, error.message) });
 * const balance = await darkroom.balance.get();
 * console.log(balance.currency); // USD
 * ```
 */
export class Darkroom {
  /** Submits requests for images. */
  readonly images: ImageCalls;
  /** Reads, awaits, lists and cancels creations. */
  readonly creations: CreationCalls;
  /** Brings images to the service that have no address of their own. */
  readonly uploads: UploadCalls;
  /** Downloads the images of completed creations. */
  readonly results: ResultCalls;
  readonly balance: BalanceCalls;
  readonly models: ModelCalls;
  /** Reads what has happened to creations, in order. */
  readonly events: EventCalls;
  /** Reads the log of requests, also of those that were refused. */
  readonly requests: RequestCalls;
  readonly webhooks: { readonly endpoints: EndpointCalls };
  /** Mints tokens for the pages of your users. */
  readonly userTokens: UserTokenCalls;
  /** The root of the API. */
  readonly baseUrl: string;

  constructor(options: DarkroomOptions = {}) {
    const { userToken } = options;
    if (isPage() && !userToken && options.dangerouslyAllowBrowser !== true) {
      throw new DarkroomError(
        'This is a page: everybody who opens it could read the API key. Call Darkroom from your server, or give the option userToken. ' +
          'If you know the risk, set the option dangerouslyAllowBrowser to true.',
      );
    }
    if (userToken && options.apiKey !== undefined)
      throw new DarkroomError('Give apiKey or userToken, not both.');
    const key = userToken ? '' : keyOf(options);
    const transport = transportOf(options, ({ now }) =>
      userToken ? authorizationBy(userToken, now) : { header: () => `Bearer ${key}`, renew: () => false },
    );
    this.baseUrl = transport.root;
    this.creations = new CreationCalls(transport);
    this.images = new ImageCalls(transport, this.creations);
    this.uploads = new UploadCalls(transport);
    this.results = new ResultCalls(transport);
    this.balance = new BalanceCalls(transport);
    this.models = new ModelCalls(transport);
    this.events = new EventCalls(transport);
    this.requests = new RequestCalls(transport);
    this.webhooks = { endpoints: new EndpointCalls(transport) };
    this.userTokens = new UserTokenCalls(transport);
    printAsText(this);
  }

  /** Names the address and never the key. */
  toString(): string {
    return `Darkroom(${this.baseUrl})`;
  }

  /** Only the address, so that no log holds the key. */
  toJSON(): { baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }
}
