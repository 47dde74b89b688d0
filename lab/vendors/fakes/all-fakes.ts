/** The fakes of all vendors, by the name of the provider that calls the vendor. */
import { readTemplate } from '../../../local/template.ts';
import type { ProviderName } from '../../../service/catalog/providers.ts';
import { synthesizedTemplate } from '../../../start/synthesized-template.ts';
import { alibabaRows, fakeAlibabaKey, startFakeAlibaba } from './alibaba/server.ts';
import { bedrockRows } from './bedrock/rows.ts';
import { startFakeBedrock } from './bedrock/server.ts';
import { bflRows, startFakeBfl } from './bfl/server.ts';
import { rulesOf, startFakeServer } from './compatible/server.ts';
import type { FakeStyle } from './compatible/vendors.ts';
import type { FakeVendor, Paint, VendorRow } from './fake-vendor.ts';
import { falRows } from './fal/rows.ts';
import { startFakeFal } from './fal/server.ts';
import { googleRows } from './google/rows.ts';
import { fakeGoogleKey, startFakeGoogle } from './google/server.ts';
import { fakeIdeogramKey, ideogramRows, startFakeIdeogram } from './ideogram/server.ts';
import { openaiRows } from './openai/rows.ts';
import { fakeOpenaiKey, startFakeOpenai } from './openai/server.ts';
import { replicateRows } from './replicate/rows.ts';
import { startFakeReplicate } from './replicate/server.ts';

export type VendorName = Exclude<ProviderName, 'sandbox' | 'sandbox-large'>;

export interface Fake {
  readonly start: (paint?: Paint) => Promise<FakeVendor>;
  readonly rows: readonly VendorRow[];
  /** The only credential that the fake accepts. Undefined: the provider signs its requests instead. */
  readonly key?: string;
  /** The model of the catalog that the tests request from this vendor. */
  readonly model: string;
}

/**
 * On one machine, a function signs its requests with the id of its role as the access key id. Bedrock renders
 * only 1K without source images.
 */
async function renderIdentity(): Promise<{ readonly accessKeyId: string; readonly secretAccessKey: string }> {
  const { functions } = readTemplate(await synthesizedTemplate());
  const accessKeyId = functions.find(({ id }) => id.startsWith('RenderImageSmall'))?.roleId ?? '';
  return { accessKeyId, secretAccessKey: 'local' };
}

export const fakes: Readonly<Record<VendorName, Fake>> = {
  bedrock: {
    start: async (paint) => startFakeBedrock(await renderIdentity(), paint),
    rows: bedrockRows,
    model: 'sd3.5-large',
  },
  openai: { start: startFakeOpenai, rows: openaiRows, key: fakeOpenaiKey, model: 'gpt-image-2' },
  google: { start: startFakeGoogle, rows: googleRows, key: fakeGoogleKey, model: 'gemini-nano-banana-2.1' },
  bfl: { start: startFakeBfl, rows: bflRows, key: 'fake-bfl-key', model: 'flux-2-pro' },
  fal: { start: startFakeFal, rows: falRows, key: 'fake-fal-key', model: 'flux-2-pro' },
  replicate: {
    start: startFakeReplicate,
    rows: replicateRows,
    key: 'fake-replicate-key',
    model: 'flux-2-pro',
  },
  alibaba: {
    start: startFakeAlibaba,
    rows: alibabaRows,
    key: fakeAlibabaKey,
    model: 'qwen-image-3.0',
  },
  ideogram: {
    start: startFakeIdeogram,
    rows: ideogramRows,
    key: fakeIdeogramKey,
    model: 'ideogram-4.5',
  },
  xai: ofFamily('xai', 'grok-imagine-image-2.0'),
  recraft: ofFamily('recraft', 'recraft-v4.1'),
  byteplus: ofFamily('ark', 'seedream-5.0-lite'),
};

/** A vendor that speaks the common shape. */
function ofFamily(style: FakeStyle, model: string): Fake {
  const { rows, key } = rulesOf[style];
  return {
    start: async (paint) => startFakeServer(style, paint),
    rows,
    model,
    ...(key !== null && { key }),
  };
}

export const vendorNames = Object.keys(fakes).filter((name): name is VendorName =>
  Object.hasOwn(fakes, name),
);
