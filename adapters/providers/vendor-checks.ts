/** For the operator's command: which call asks a vendor whether our key is good. */
import type { ProviderName } from '../../core/providers.ts';
import { checkBedrock } from './bedrock.ts';
import { checkBfl } from './bfl/bfl-check.ts';
import { checkFal } from './fal/fal-check.ts';
import { checkGoogle } from './google-check.ts';
import { checkOpenai } from './openai-check.ts';
import { checkReplicate } from './replicate/replicate-check.ts';
import type { CredentialCheck } from './vendor-settings.ts';
import { settingsOf, type VendorAccess } from './vendors.ts';

/** Costs nothing. The signal bounds it. */
export async function checkVendor(
  name: ProviderName,
  access: VendorAccess,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const settings = settingsOf(access, name);
  switch (name) {
    case 'sandbox':
    case 'sandbox-large':
      return Promise.resolve({ verdict: 'unchecked', detail: 'needs no key' });
    case 'bedrock':
      return checkBedrock();
    case 'openai':
      return checkOpenai(settings, signal);
    case 'google':
      return checkGoogle(settings, signal);
    case 'bfl':
      return checkBfl(settings, signal);
    case 'fal':
      return checkFal(settings, signal);
    case 'replicate':
      return checkReplicate(settings, signal);
  }
}
