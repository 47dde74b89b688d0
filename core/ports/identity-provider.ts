/** The issuer that identifies people (OpenID Connect). */

/** What a sign-in keeps between its beginning and its end. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface SignInRequest extends SignInSecrets {
  readonly redirectUri: string;
  /** True: the issuer asks for the person's proof again. */
  readonly isFresh: boolean;
  /** The issuer asks again when its own session is older than this. */
  readonly maxAgeSeconds: number;
}

/** What the issuer says of the person. The signature was checked. */
export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified: boolean;
  /** Unix seconds at which the person proved who they are. Absent: the issuer does not say. */
  readonly authTime?: number;
}

/** Every function throws IssuerUnavailable when the issuer does not answer, or answers nonsense. */
export interface IdentityProvider {
  newSecrets(): SignInSecrets;
  /** The address at the issuer where the sign-in begins. */
  authorizationUrl(request: SignInRequest): Promise<string>;
  /**
   * Redeems what the issuer sent the browser back with.
   * @param callback the address of the callback with all of its parameters
   * @throws SignInRefused when anything in it is not as it has to be, and SignInCancelled when the person stopped
   */
  redeem(callback: URL, begun: SignInSecrets & { readonly redirectUri: string }): Promise<Claims>;
  /** Where the person also signs out at the issuer. Undefined: the issuer has no such address. */
  endSessionUrl(returnTo: string): Promise<string | undefined>;
}

/** The issuer cannot be reached, or it answers nonsense. This may pass. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

/** The sign-in did not end as it has to. The person may begin again. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

/** The person stopped the sign-in at the issuer. */
export class SignInCancelled extends Error {
  override readonly name = 'SignInCancelled';
}
