import type { ApiPromise, CallOptions, PostOptions } from '../http/call.ts';
import { idInPath } from '../http/id-in-path.ts';
import type { Transport } from '../http/transport.ts';
import type { NewUserToken, UserToken } from '../types/generated.ts';

/** For whom a token is, and what it may do. */
export interface UserTokenOrder {
  readonly user: string;
  /** In USD. */
  readonly spendLimit: number;
  /** Seconds: 60 to 900, by default 300. */
  readonly expiresIn?: number | undefined;
  /** Creations: 1 to 100, by default 10. */
  readonly maxUses?: number | undefined;
  readonly models?: readonly string[] | undefined;
  /** The pages that may send the token, such as `https://app.example.com`. */
  readonly origins?: readonly string[] | undefined;
  readonly webhookUrl?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Mints tokens for the pages of your users, on your server. */
export class UserTokenCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Mints a token for one user. Send the answer to the page of the user, for the option `userToken` there.
   *
   * @example
   * ```ts
   * const minted = await darkroom.userTokens.create({ user: 'alice', spendLimit: 0.4 });
   * console.log(minted.token.slice(0, 8), minted.max_uses); // dk_user_ 10
   * ```
   */
  create(order: UserTokenOrder, options: PostOptions = {}): ApiPromise<NewUserToken> {
    const body = Object.fromEntries(
      Object.entries(order).map(([name, value]) => [
        name.replace(/[A-Z]/, (big) => `_${big.toLowerCase()}`),
        value,
      ]),
    );
    return this.#transport.call({ method: 'POST', path: '/user-tokens', body, options });
  }

  /** What the token may do and has done. Only the key that minted it may ask. */
  get(id: string, options: CallOptions = {}): ApiPromise<UserToken> {
    return this.#transport.call({ method: 'GET', path: `/user-tokens/${idInPath(id)}`, options });
  }

  /** Ends the token at once. */
  revoke(id: string, options: PostOptions = {}): ApiPromise<UserToken> {
    return this.#transport.call({
      method: 'POST',
      path: `/user-tokens/${idInPath(id)}/revoke`,
      options,
    });
  }
}
