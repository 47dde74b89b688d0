import type { ProviderCredentials } from '../../core/provider.ts';

/** What every vendor's adapter is made of. */
export interface VendorSettings {
  readonly credentials: ProviderCredentials;
  /** Instead of the vendor's own address: a fake of it, a proxy. Without a slash at its end. */
  readonly baseUrl?: string;
}

/** What a vendor says of a credential, asked by a call that costs nothing. */
export interface CredentialCheck {
  /** 'unchecked': the vendor has no such call. */
  readonly verdict: 'accepted' | 'refused' | 'unreachable' | 'unchecked';
  /** For a person: "HTTP 200", "HTTP 401 invalid_api_key", why nothing was asked. Never the credential. */
  readonly detail: string;
}
