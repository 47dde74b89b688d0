/** Every real vendor behind the one contract, ready to be asked. */
import type { ImageProvider, ProviderCredentials } from '../../core/provider.ts';
import { createBedrock } from './bedrock.ts';
import { createBfl } from './bfl/bfl-provider.ts';
import { createFal } from './fal/fal-provider.ts';
import { createGoogle } from './google.ts';
import { createOpenai } from './openai.ts';
import { createReplicate } from './replicate/replicate-provider.ts';
import type { VendorSettings } from './vendor-settings.ts';

export interface VendorAccess {
  readonly credentials: ProviderCredentials;
  /** Instead of a vendor's own address, by the provider's name. */
  readonly baseUrls: Readonly<Record<string, string>>;
}

/** What a vendor's adapter or check is made of. */
export function settingsOf({ credentials, baseUrls }: VendorAccess, name: string): VendorSettings {
  const baseUrl = baseUrls[name];
  return { credentials, ...(baseUrl !== undefined && { baseUrl }) };
}

export function createVendors(access: VendorAccess & { readonly bedrockRegion: string }): ImageProvider[] {
  const endpoint = access.baseUrls['bedrock'];
  return [
    createBedrock({ region: access.bedrockRegion, ...(endpoint !== undefined && { endpoint }) }),
    createOpenai(settingsOf(access, 'openai')),
    createGoogle(settingsOf(access, 'google')),
    createBfl(settingsOf(access, 'bfl')),
    createFal(settingsOf(access, 'fal')),
    createReplicate(settingsOf(access, 'replicate')),
  ];
}
