/** What the deployment says of its portal. */
export interface PortalSettings {
  /** Where the pages are, with a slash at the end: https://HOST/ or http://127.0.0.1:PORT/portal/. */
  readonly portalUrl: URL;
  /** The root of the public API: …/api/public/v1. */
  readonly apiUrl: string;
  /** True: every address that the issuer names counts as verified. */
  readonly emailsAreVerified: boolean;
  /** False: the issuer never says when the person proved who they are. The time of the sign-in counts then. */
  readonly hasAuthTime: boolean;
  /** Null: the operator has no way to pay of their own. */
  readonly paymentUrl: string | null;
  /** Whether the wallet page takes payments through Stripe. */
  readonly takesPayments: boolean;
  /** Null: the operator names no contact. */
  readonly contact: string | null;
  /** Null: the issuer has no page for passkeys and passwords. */
  readonly credentialsUrl: string | null;
  /** Null: the service has no inbox of its own. */
  readonly inboxUrl: string | null;
}
