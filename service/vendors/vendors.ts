/** The table of vendors: each vendor's name, adapter and check, stated once. */
import { providers, type VendorName } from '../catalog/providers.ts';
import { checkAlibaba, createAlibaba } from './alibaba.ts';
import { checkBedrock } from './bedrock-check.ts';
import { checkBfl, createBfl } from './bfl.ts';
import { compatibleVendors } from './compatible/vendors.ts';
import { withNewKey } from './credentials.ts';
import { checkFal, createFal } from './fal/provider.ts';
import { checkGoogle, createGoogle } from './google.ts';
import { checkIdeogram, createIdeogram } from './ideogram.ts';
import { checkOpenai, createOpenai } from './openai.ts';
import type {
  CredentialCheck,
  ImageProvider,
  ProviderCredentials,
  Providers,
  Vendor,
  VendorSettings,
} from './provider.ts';
import { checkReplicate, createReplicate } from './replicate/provider.ts';

const vendors: Readonly<Record<VendorName, Vendor>> = {
  bedrock: {
    // The bundle of a function has this adapter in a file of its own: its client is as large as all other adapters
    // together, and a service that does not use Bedrock never loads the file.
    create: async ({ name, baseUrl }, region) => {
      const { createBedrock } = await import('./bedrock.ts');
      return createBedrock({ name, region, ...(baseUrl !== undefined && { endpoint: baseUrl }) });
    },
    check: checkBedrock,
  },
  openai: { create: createOpenai, check: checkOpenai },
  google: { create: createGoogle, check: checkGoogle },
  bfl: { create: createBfl, check: checkBfl },
  fal: { create: createFal, check: checkFal },
  replicate: { create: createReplicate, check: checkReplicate },
  alibaba: { create: createAlibaba, check: checkAlibaba },
  ideogram: { create: createIdeogram, check: checkIdeogram },
  ...compatibleVendors,
};

export interface VendorAccess {
  readonly credentials: ProviderCredentials;
  readonly clock: VendorSettings['clock'];
  readonly baseUrls: Readonly<Record<string, string>>;
}

/** The adapters by name. Each is created at its first use, because few services use every vendor. */
export function createVendors(access: VendorAccess & { readonly bedrockRegion: string }): Providers {
  const created = new Map<string, Promise<ImageProvider>>();
  return {
    get: (name) => {
      if (!isVendor(name)) return undefined;
      const provider = created.get(name) ?? createVendor(name, access);
      created.set(name, provider);
      return provider;
    },
  };
}

async function createVendor(
  name: VendorName,
  access: VendorAccess & { readonly bedrockRegion: string },
): Promise<ImageProvider> {
  const provider = await vendors[name].create(settingsOf(access, name), access.bedrockRegion);
  return providers[name].credential === 'key' ? withNewKey(provider, access.credentials) : provider;
}

/** Asks a provider's vendor about our key, by a call that costs nothing. Throws when the signal aborts. */
export async function checkVendor(
  name: string,
  access: VendorAccess,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  if (!isVendor(name)) return { verdict: 'unchecked', detail: 'needs no key' };
  return vendors[name].check(settingsOf(access, name), signal);
}

function isVendor(name: string): name is VendorName {
  return Object.hasOwn(vendors, name);
}

function settingsOf({ credentials, clock, baseUrls }: VendorAccess, name: string): VendorSettings {
  const baseUrl = baseUrls[name];
  return { name, credentials, clock, ...(baseUrl !== undefined && { baseUrl }) };
}
