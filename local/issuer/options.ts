/** What the local issuer needs to know. */
export interface IssuerOptions {
  /** The issuer's own address, without a slash at its end: http://127.0.0.1:8787/_local/issuer. */
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Where the browser comes back to after a sign-in. */
  readonly redirectUri: string;
  /** Where the browser comes back to after a sign-out. */
  readonly afterSignOut: string;
  /** The addresses that the page offers. */
  readonly people: () => Promise<readonly string[]>;
  /** Unix milliseconds of the virtual clock, by which the service reads the tokens. */
  readonly now: () => number;
}
