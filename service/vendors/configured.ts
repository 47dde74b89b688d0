/** A provider that an operator configures. guarded-send.ts limits its addresses. */
import type { ProviderDefinition } from '../catalog/provider-definition.ts';
import type { CompatibleStyleName } from '../catalog/providers.ts';
import { checkComfyui, type ComfyuiServer, createComfyui } from './comfyui/provider.ts';
import { checkCompatible, type CompatibleServer, createCompatible } from './compatible/provider.ts';
import { styles } from './compatible/styles.ts';
import { withNewKey } from './credentials.ts';
import { type GuardedServices, sendTo } from './guarded-send.ts';
import type { CredentialCheck, ImageProvider, VendorSettings } from './provider.ts';

type ConfiguredSettings = Omit<VendorSettings, 'baseUrl'>;

/** @param services replace the system's resolver and sockets, for tests */
export function createConfigured(
  definition: ProviderDefinition,
  settings: ConfiguredSettings,
  services?: GuardedServices,
): ImageProvider {
  const { style, credential } = definition;
  const provider =
    style === 'comfyui'
      ? createComfyui(comfyuiOf(definition, settings, services))
      : createCompatible(serverOf(definition, style, settings, services));
  return credential === 'key' ? withNewKey(provider, settings.credentials) : provider;
}

/** Asks the server by a call that costs nothing. Throws when the signal aborts. */
export async function checkConfigured(
  definition: ProviderDefinition,
  settings: ConfiguredSettings,
  signal: AbortSignal,
  services?: GuardedServices,
): Promise<CredentialCheck> {
  const { style } = definition;
  return style === 'comfyui'
    ? checkComfyui(comfyuiOf(definition, settings, services), signal)
    : checkCompatible(serverOf(definition, style, settings, services), signal);
}

function serverOf(
  { baseUrl, credential, network, imageHosts, differences }: ProviderDefinition,
  style: CompatibleStyleName,
  settings: ConfiguredSettings,
  services?: GuardedServices,
): CompatibleServer {
  return {
    ...settings,
    baseUrl,
    credential,
    imageHosts,
    style: { ...styles[style], ...differences },
    send: sendTo(network, services),
  };
}

function comfyuiOf(
  { baseUrl, credential, network, workflows = {} }: ProviderDefinition,
  settings: ConfiguredSettings,
  services?: GuardedServices,
): ComfyuiServer {
  return { ...settings, baseUrl, credential, workflows, send: sendTo(network, services) };
}
