/** A provider that an operator configures: an own GPU, a vendor or a proxy of a known shape. */
import type { Workflows } from './comfyui-workflow.ts';
import type { StyleDifferences, StyleName } from './providers.ts';

export interface ProviderDefinition {
  /** Lower-case letters, digits and hyphens, 2 to 32 of them. Never the name of a provider that is built in. */
  readonly name: string;
  readonly title: string;
  readonly style: StyleName;
  /** Where the paths of the style begin, such as https://gpu.example.com. It has no slash at its end. */
  readonly baseUrl: string;
  /** 'key': Secrets Manager keeps a key under the provider's name. 'none': calls carry no key. */
  readonly credential: 'key' | 'none';
  /** 'private': private networks, loopback and plain http, too. 'public': public addresses, by https. */
  readonly network: 'public' | 'private';
  /** Hosts beside that of the base URL from which a picture is downloaded, each with its subdomains. */
  readonly imageHosts: readonly string[];
  readonly differences: StyleDifferences;
  /** Of the style comfyui alone, and needed there: what readWorkflow (comfyui-workflow.ts) read. */
  readonly workflows?: Workflows;
}
