/** What every vendor's folder offers: an adapter that renders, and a check of our key that costs nothing. */
import type { Clock } from '../values/runtime.ts';
import type { ImageProvider, ProviderCredentials } from './provider.ts';

/** What a vendor's adapter and check are made of. */
export interface VendorSettings {
  /** The name under which the table of vendors lists the vendor, and under which its key is stored. */
  readonly name: string;
  readonly credentials: ProviderCredentials;
  /** The clock of the service, for what is asked of the vendor only from time to time. */
  readonly clock: Pick<Clock, 'now' | 'timeout'>;
  /** Replaces the vendor's own address, for a fake or a proxy. It has no slash at its end. */
  readonly baseUrl?: string;
}

/** What a vendor says about our key when a call that costs nothing asks for it. */
export interface CredentialCheck {
  /** 'unchecked': the vendor has no such call, or there is no key. */
  readonly verdict: 'accepted' | 'refused' | 'unreachable' | 'unchecked';
  /** For a person: "HTTP 200", "HTTP 401 invalid_api_key", or why nothing was asked. Never the key itself. */
  readonly detail: string;
}

export interface Vendor {
  /** @param bedrockRegion the AWS region whose models Bedrock is asked for; the other vendors ignore it */
  readonly create: (
    settings: VendorSettings,
    bedrockRegion: string,
  ) => ImageProvider | Promise<ImageProvider>;
  /** Costs nothing. Throws when the signal aborts. */
  readonly check: (settings: VendorSettings, signal: AbortSignal) => Promise<CredentialCheck>;
}
