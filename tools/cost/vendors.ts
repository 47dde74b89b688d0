/** How each provider of the catalog works, because this decides what its renderings cost. */
import { providers, type ProviderName } from '../../core/providers.ts';

/**
 * 'synchronous': one call that is answered with the picture or its address. 'callback': a job, and the vendor calls
 * back when the job has ended. 'polled': a job that the renderer asks about until it has ended.
 */
export const vendorKinds = ['synchronous', 'callback', 'polled'] as const;
export type VendorKind = (typeof vendorKinds)[number];

const kinds: Readonly<Record<ProviderName, VendorKind>> = {
  sandbox: 'synchronous',
  'sandbox-large': 'synchronous',
  bedrock: 'synchronous',
  openai: 'synchronous',
  google: 'synchronous',
  bfl: 'polled',
  fal: 'callback',
  replicate: 'callback',
  alibaba: 'synchronous',
  ideogram: 'polled',
  xai: 'synchronous',
  recraft: 'synchronous',
  byteplus: 'synchronous',
};

export const vendorNames = Object.keys(kinds) as ProviderName[];

export function vendorKindOf(name: ProviderName): VendorKind {
  return kinds[name];
}

export function isVendor(name: string): name is ProviderName {
  return Object.hasOwn(kinds, name);
}

/** The titles of the vendors of a kind, without the sandboxes. */
export function vendorTitles(kind: VendorKind): string {
  const named = vendorNames.filter((name) => kinds[name] === kind && providers[name].credential !== 'none');
  return named.map((name) => providers[name].title).join(', ');
}
