/** The vendors that call back when a job has ended. A bundle with only these has no client of Amazon Bedrock. */
import { createFal } from './fal/provider.ts';
import { withNewKey } from './credentials.ts';
import type { ImageProvider } from './provider.ts';
import { createReplicate } from './replicate/provider.ts';
import type { VendorAccess } from './vendors.ts';

const callingVendors = { fal: createFal, replicate: createReplicate };

export function createCallingVendors({ baseUrls, ...access }: VendorAccess): ImageProvider[] {
  return Object.entries(callingVendors).map(([name, create]) => {
    const baseUrl = baseUrls[name];
    const provider = create({ name, ...access, ...(baseUrl !== undefined && { baseUrl }) });
    return withNewKey(provider, access.credentials);
  });
}
