/** The fakes of all vendors, by the provider's name. */
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { readTemplate } from '../../local/template.ts';
import type { ProviderName } from '../../core/providers.ts';
import { bedrockRows, startFakeBedrock } from './bedrock.ts';
import { bflRows, startFakeBfl } from './bfl.ts';
import { falRows, startFakeFal } from './fal.ts';
import type { FakeVendor, VendorRow } from './fake-vendor.ts';
import { googleRows, startFakeGoogle } from './google.ts';
import { openaiRows, startFakeOpenai } from './openai.ts';
import { replicateRows, startFakeReplicate } from './replicate.ts';

export type VendorName = Exclude<ProviderName, 'sandbox' | 'sandbox-large'>;

export interface Fake {
  readonly start: () => Promise<FakeVendor>;
  readonly rows: readonly VendorRow[];
  /** The one credential that it accepts; undefined: requests are signed. */
  readonly key?: string;
  /** The catalog's model that is asked for. */
  readonly model: string;
}

/** On one machine a function signs under the id of its role. */
async function renderIdentity(): Promise<{ readonly accessKeyId: string; readonly secretAccessKey: string }> {
  const { functions } = readTemplate(await synthesizedTemplate());
  const accessKeyId = functions.find(({ id }) => id.startsWith('RenderImage'))?.roleId ?? '';
  return { accessKeyId, secretAccessKey: 'local' };
}

export const fakes: Readonly<Record<VendorName, Fake>> = {
  bedrock: {
    start: async () => startFakeBedrock(await renderIdentity()),
    rows: bedrockRows,
    model: 'sd3.5-large',
  },
  openai: { start: startFakeOpenai, rows: openaiRows, key: 'fake-openai-key', model: 'gpt-image-2' },
  google: {
    start: startFakeGoogle,
    rows: googleRows,
    key: 'fake-google-key',
    model: 'gemini-3.1-flash-image',
  },
  bfl: { start: startFakeBfl, rows: bflRows, key: 'fake-bfl-key', model: 'flux-2-pro' },
  fal: { start: startFakeFal, rows: falRows, key: 'fake-fal-key', model: 'flux-2-pro' },
  replicate: {
    start: startFakeReplicate,
    rows: replicateRows,
    key: 'fake-replicate-key',
    model: 'flux-2-pro',
  },
};
