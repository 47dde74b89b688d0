/**
 * The providers that Darkroom knows, with their names and what each needs before requests
 * can use it. A provider with a key is enabled once the key is set. A provider that signs
 * with the function's role is enabled once an operator has switched it on.
 */
export interface ProviderInfo {
  readonly title: string;
  /** 'none': always enabled. 'role': signed with the function's role. 'key': a key in Secrets Manager. */
  readonly credential: 'none' | 'role' | 'key';
}

export const providers = {
  sandbox: { title: 'Sandbox', credential: 'none' },
  'sandbox-large': { title: 'Sandbox, the second', credential: 'none' },
  bedrock: {
    title: 'Amazon Bedrock',
    credential: 'role',
  },
  openai: { title: 'OpenAI', credential: 'key' },
  google: { title: 'Google Gemini', credential: 'key' },
  bfl: { title: 'Black Forest Labs', credential: 'key' },
  fal: { title: 'fal', credential: 'key' },
  replicate: { title: 'Replicate', credential: 'key' },
  alibaba: {
    title: 'Alibaba Model Studio',
    credential: 'key',
  },
  ideogram: { title: 'Ideogram', credential: 'key' },
  xai: { title: 'xAI', credential: 'key' },
  recraft: { title: 'Recraft', credential: 'key' },
  byteplus: {
    title: 'BytePlus ModelArk',
    credential: 'key',
  },
} as const satisfies Readonly<Record<string, ProviderInfo>>;

export type ProviderName = keyof typeof providers;
/** The sandboxes call no vendor: they need no key. */
export type VendorName = Exclude<ProviderName, 'sandbox' | 'sandbox-large'>;

/** How an operator gets access to a vendor. */
interface Access {
  /** The page that gives the key or the access. */
  readonly page: string;
  /** In Markdown. */
  readonly needs: string;
  /** What `admin providers check` asks the vendor for, free of charge. */
  readonly checkAsksFor: string;
}

/** Only the command and docs/providers.md show this, so no bundle of a function has it. */
export const vendorAccess: Readonly<Partial<Record<ProviderName, Access>>> = {
  bedrock: {
    page: 'https://console.aws.amazon.com/bedrock/home?region=us-west-2#/modelaccess',
    needs:
      'no key, only a [first call](#models-of-amazon-bedrock) of each model of Stability in us-west-2 (setting `bedrockRegion`)',
    checkAsksFor: 'nothing: Bedrock has no free call',
  },
  openai: {
    page: 'https://platform.openai.com/api-keys',
    needs: 'a key; for some models a verified organization',
    checkAsksFor: 'the list of models',
  },
  google: {
    page: 'https://aistudio.google.com/apikey',
    needs: 'a key of the Gemini API, with billing enabled',
    checkAsksFor: 'the list of models',
  },
  bfl: {
    page: 'https://dashboard.bfl.ai',
    needs: 'a key',
    checkAsksFor: 'the credits that are left',
  },
  fal: {
    page: 'https://fal.ai/dashboard/keys',
    needs: 'a key; for [callbacks](#vendors-that-call-back) also your user id',
    checkAsksFor: 'the price of a model',
  },
  replicate: {
    page: 'https://replicate.com/account/api-tokens',
    needs: 'a token',
    checkAsksFor: 'the account',
  },
  alibaba: {
    page: 'https://modelstudio.console.alibabacloud.com',
    needs: 'a key of the region Singapore; for another region, set its address in `PROVIDER_BASE_URLS`',
    checkAsksFor: 'the list of models',
  },
  ideogram: {
    page: 'https://ideogram.ai/platform',
    needs: 'a key, with credits',
    checkAsksFor: 'the list of the models that you have trained',
  },
  xai: { page: 'https://console.x.ai', needs: 'a key, with credits', checkAsksFor: 'the list of models' },
  recraft: {
    page: 'https://app.recraft.ai/profile/api',
    needs: 'a token, with API units',
    checkAsksFor: 'the account',
  },
  byteplus: {
    page: 'https://console.byteplus.com/ark/apiKey',
    needs:
      'a key of the region ap-southeast-1, and each model of Seedream activated; for another region, set its address in `PROVIDER_BASE_URLS`',
    checkAsksFor: 'the list of models',
  },
} satisfies Record<VendorName, Access>;

const sandboxes: readonly string[] = ['sandbox', 'sandbox-large'] satisfies ProviderName[];

/** Whether the provider paints its pictures itself and obeys the directives of a prompt. */
export function isSandbox(name: string): boolean {
  return sandboxes.includes(name);
}

/** The providers that can call back when a job has ended. The others answer at once, or are asked. */
const callingBack: readonly string[] = ['fal', 'replicate'] satisfies ProviderName[];

export function canCallBack(name: string): boolean {
  return callingBack.includes(name);
}

/** Whether Darkroom knows the provider by itself. The others are configured by an operator. */
export function isBuiltIn(name: string): name is ProviderName {
  return Object.hasOwn(providers, name);
}

export interface ProviderPause {
  /** RFC 3339. */
  readonly since: string;
  readonly reason?: string;
}

/** How a provider renders a model. */
interface NamedRoute {
  readonly provider: string;
  readonly providerModel: string;
  readonly quality?: string;
}

export function routeName({ provider, providerModel, quality = '' }: NamedRoute): string {
  return `${provider}#${providerModel}#${quality}`;
}

/** @param paused providers by their names, and single routes by routeName() */
export function isPaused(route: NamedRoute, paused: readonly string[]): boolean {
  return paused.includes(route.provider) || paused.includes(routeName(route));
}

export interface ProviderSwitches {
  /** Providers with a key, or switched on by an operator. */
  readonly enabledProviders: readonly string[];
  /** Providers and routes, as isPaused() takes them. Absent: none is paused. */
  readonly pausedProviders?: readonly string[];
}

/** Those that are built in, in the order of their table, and then the configured ones that are switched on. */
export function providerNames(enabled: readonly string[]): readonly string[] {
  return [...Object.keys(providers), ...enabled.filter((name) => !isBuiltIn(name))];
}

/** Whether the provider is switched on: it needs nothing, or it is in the list of enabled providers. */
export function isEnabled(name: string, enabled: readonly string[]): boolean {
  return enabled.includes(name) || (isBuiltIn(name) && providers[name].credential === 'none');
}

/** The shapes that the compatible adapter speaks. vendors/compatible/styles.ts has each as data. */

export const compatibleStyleNames = [
  'openai',
  'vllm-omni',
  'sglang',
  'localai',
  'litellm',
  'xai',
  'recraft',
  'ark',
] as const;
export type CompatibleStyleName = (typeof compatibleStyleNames)[number];

/** comfyui has an adapter of its own and no differences (adapters/providers/comfyui/). */
export const styleNames = [...compatibleStyleNames, 'comfyui'] as const;
export type StyleName = (typeof styleNames)[number];

/**
 * How a request names the size.
 *
 * - pixels: `size: "1360x768"`
 * - ark_pixels: the same, with the sizes of Seedream, whose 4K has 16 megapixels
 * - ratio: `size: "16:9"`, and the model decides on the resolution
 * - tier: `size: "2K"` and `aspect_ratio: "16:9"`
 * - ratio_and_resolution: `aspect_ratio: "16:9"` and `resolution: "2k"`
 */
export const sizeSyntaxes = ['pixels', 'ark_pixels', 'ratio', 'tier', 'ratio_and_resolution'] as const;

/** The member of data[] that holds the picture. either: the one that the server sends. */
export const answerMembers = ['b64_json', 'url', 'either'] as const;

/**
 * How source images are sent.
 *
 * - multipart: a form with one part for each image
 * - data_uris: a JSON list of data URIs
 * - base64: a JSON list of texts in base64
 * - image_objects: one JSON object with a data URI, or a list of them under the plural of the field's name
 * - none: the server takes no source images
 */
export const editSyntaxes = ['multipart', 'data_uris', 'base64', 'image_objects', 'none'] as const;

/**
 * When a request names a quality.
 *
 * - always: the quality of the route, or medium
 * - named: the quality of the route, if it has one
 * - never: the server has no qualities
 */
export const qualityRules = ['always', 'named', 'never'] as const;

export interface Style {
  readonly generationsPath: string;
  /** Where a request with source images goes. */
  readonly editsPath: string;
  /** A GET that is free of charge and needs the key. Null: the server has none. */
  readonly checkPath: string | null;
  readonly size: (typeof sizeSyntaxes)[number];
  readonly answer: (typeof answerMembers)[number];
  readonly edits: (typeof editSyntaxes)[number];
  /** The name of the field, or of the part of the form, that holds a source image. */
  readonly sourceField: string;
  /** The name of the field for the seed. Null: the server has no seed. */
  readonly seed: string | null;
  /** The name of the field for the negative prompt. Null: the server takes none. */
  readonly negativePrompt: string | null;
  readonly quality: (typeof qualityRules)[number];
  /** The name of the field for the background. Null: the server takes none. */
  readonly background: string | null;
  /** The name of the part of the form for the mask. Null: the server takes none, or changes what it protects. */
  readonly mask: string | null;
  /** The name of the field for the format of the picture. Null: the server decides on the format. */
  readonly outputFormat: string | null;
  /** The member of data[] that is false when the server has refused the prompt. Null: there is none. */
  readonly moderation: string | null;
  /** The member or x- header of the answer with the bill. tokens: OpenAI's counts. Null: there is none. */
  readonly billed: string | null;
  /** How many units of `billed` are one USD. */
  readonly billedPerUsd: number;
  /** Fields that every request carries, such as watermark: false. */
  readonly fixed: Readonly<Record<string, string | number | boolean>>;
}

export type StyleDifferences = Partial<Style>;
