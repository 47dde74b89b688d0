import type { VendorHttp } from '../vendor-http.ts';
import type { VendorSettings } from '../vendor.ts';

/** A connection to a server of ComfyUI, with the headers of its key. */
export interface Connection extends Pick<VendorSettings, 'name' | 'credentials'> {
  readonly http: VendorHttp;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}
