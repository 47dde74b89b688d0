/**
 * Servers of an operator as configured providers: own GPUs and a proxy. Each has a fake, and sells one model by the
 * operator's catalog.
 */
import { readFileSync } from 'node:fs';
import { readCatalog } from '../../admin/catalog/catalog-files.ts';
import { readMerged, storeParts } from '../../admin/catalog/merged-catalog.ts';
import { checkOperatorFile } from '../../admin/catalog/operator-file.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { readWorkflow, type Workflows } from '../../service/catalog/comfyui-workflow.ts';
import { providerDefinitionSchema } from '../../service/catalog/provider-definition-schema.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import { providers, type StyleName } from '../../service/catalog/providers.ts';
import { tiers } from '../../service/contract/request-fields.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
import { fakeComfyui } from './fakes/comfyui/server.ts';
import { fakeServer, rulesOf } from './fakes/compatible/server.ts';
import type { FakeStyle } from './fakes/compatible/rules.ts';
import type { Fake } from './fakes/facts.ts';
import type { FakeVendor, Paint } from './fakes/fake-vendor.ts';

/** The names of the providers, as an operator may choose them. */
export const ownServerNames = ['gpu', 'sglang', 'localai', 'proxy', 'comfyui'] as const;
export type OwnServerName = (typeof ownServerNames)[number];

interface OwnServer extends Fake {
  readonly style: StyleName;
  readonly providerModel: string;
  readonly workflows?: Workflows;
  readonly differences?: ProviderDefinition['differences'];
}

export const ownServers: Readonly<Record<OwnServerName, OwnServer>> = {
  gpu: ownServer('vllm-omni'),
  sglang: ownServer('sglang'),
  localai: ownServer('localai'),
  // LiteLLM hands the mask on to the model behind it (docs.litellm.ai/docs/image_edits).
  proxy: { ...ownServer('litellm'), differences: { mask: 'mask' } },
  comfyui: { ...fakeComfyui, style: 'comfyui', providerModel: 'sdxl', workflows: exampleWorkflows() },
};

/** The workflows of client/examples/, as `providers add --workflow` reads them. */
function exampleWorkflows(): Workflows {
  const file = new URL('../../client/examples/workflows/comfyui.json', import.meta.url);
  const read = readWorkflow(readFileSync(file, 'utf8'));
  if (read.kind === 'wrong') throw new Error(JSON.stringify(read.problems));
  return read.workflows;
}

function ownServer(style: FakeStyle): OwnServer {
  const [providerModel = ''] = Object.keys(rulesOf[style].models);
  return { ...fakeServer(style, `own-${style}`), style, providerModel };
}

export async function startOwnServers(paint?: Paint): Promise<ReadonlyMap<OwnServerName, FakeVendor>> {
  return new Map(
    await Promise.all(
      ownServerNames.map(async (name) => [name, await ownServers[name].start(paint)] as const),
    ),
  );
}

/** The provider as `providers add` would store it. */
export function ownDefinition(name: OwnServerName, baseUrl: string): ProviderDefinition {
  const { style, key, workflows, differences = {} } = ownServers[name];
  return providerDefinitionSchema.parse({
    name,
    title: name,
    style,
    baseUrl,
    credential: key === undefined ? 'none' : 'key',
    network: 'private',
    imageHosts: [],
    differences,
    ...(workflows && { workflows }),
  });
}

/** Configures the servers, sells their models and enables them, as the operator's command does. */
export async function addOwnServers(
  services: Pick<OperatorServices, 'credentials' | 'providers' | 'operatorCatalog'>,
  servers: ReadonlyMap<OwnServerName, FakeVendor>,
): Promise<void> {
  const definitions = [...servers].map(([name, { url }]) => ownDefinition(name, url));
  const file = {
    models: Object.fromEntries(ownServerNames.map((name) => [ownServers[name].model, modelOf(name)])),
    costs: ownServerNames.map(costOf),
  };
  const names = [...Object.keys(providers), ...ownServerNames];
  const parts = checkOperatorFile(JSON.stringify(file), readCatalog(), names);
  const { stored } = await readMerged(services);
  await storeParts(stored, { providers: definitions, ...parts }, services);
  for (const name of ownServerNames) {
    const { key } = ownServers[name];
    if (key !== undefined) await services.credentials.set(name, key);
    await services.providers.enable(name);
  }
}

function sendsMasks({ differences, workflows = {} }: OwnServer): boolean {
  return differences?.mask != null || Object.keys(workflows).some((name) => name.endsWith('/mask'));
}

function takesNegativePrompt(style: StyleName): boolean {
  return style === 'comfyui' || styles[style].negativePrompt !== null;
}

function modelOf(name: OwnServerName): object {
  const limits = { max_prompt_length: 4_000, max_image_urls: 2 };
  return {
    name: `Our ${name}`,
    description: 'A model on a server of our own.',
    ...limits,
    default_resolution: '1K',
    default_aspect_ratio: '1:1',
    default_output_format: 'png',
    pricing: [{ resolution: '1K', usd: 0.015, usd_per_input_image: 0 }],
    routes: [
      {
        provider: name,
        provider_model: ownServers[name].providerModel,
        quality: null,
        ...(ownServers[name].style === 'litellm' && { qualities: tiers, supports_background: true }),
        resolutions: ['1K'],
        aspect_ratios: ['1:1', '16:9', '9:16'],
        output_formats: ['png'],
        ...limits,
        ...(sendsMasks(ownServers[name]) && { supports_mask: true }),
        ...(takesNegativePrompt(ownServers[name].style) && { max_negative_prompt_length: 2_000 }),
        needs_prompt: true,
        source_limits: {
          content_types: ['image/jpeg', 'image/png', 'image/webp'],
          max_bytes: 10_000_000,
          min_side: 64,
          max_side: 4_096,
          max_pixels: 16_777_216,
        },
      },
    ],
  };
}

function costOf(name: OwnServerName): object {
  return {
    provider: name,
    provider_model: ownServers[name].providerModel,
    quality: null,
    images: [{ resolution: '1K', usd: 0.01, usd_per_input_image: 0 }],
    source: null,
    checked_at: '2026-11-23',
  };
}
