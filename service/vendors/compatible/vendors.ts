/**
 * The vendors that are built in and speak the common shape. Each is a style and an address.
 *
 * Not verified, because no page of the vendor could be opened: the prices of xAI and of Seedream 5.0 are those that
 * public price lists quote from the vendors' pages (docs.x.ai, read there on 2026-09-20 and 2026-11-05;
 * docs.byteplus.com, read there on 2026-06 and 2026-09-13). The longest prompts of xAI and Seedream are those of
 * resellers. Whether Recraft V4.1 takes a seed, and whether ModelArk has the list of models that the check asks for.
 * What Seedream 5.0 pro bills for source images is not known, so it gets none. xAI gives a picture from one source
 * image the ratio of that image whatever the request asks for, so it gets none either.
 */
import type { CompatibleStyleName } from '../../catalog/providers.ts';
import type { Vendor } from '../provider.ts';
import { checkCompatible, createCompatible } from './provider.ts';
import { styles } from './styles.ts';

export const compatibleVendors = {
  xai: vendorOf('https://api.x.ai', 'xai'),
  recraft: vendorOf('https://external.api.recraft.ai', 'recraft'),
  /** The region ap-southeast-1, which alone has all models. A key of another region is refused here. */
  byteplus: vendorOf('https://ark.ap-southeast.bytepluses.com', 'ark'),
} as const satisfies Readonly<Record<string, Vendor>>;

function vendorOf(baseUrl: string, style: CompatibleStyleName): Vendor {
  return {
    create: (settings) => createCompatible({ baseUrl, ...settings, style: styles[style] }),
    check: (settings, signal) => checkCompatible({ baseUrl, ...settings, style: styles[style] }, signal),
  };
}
