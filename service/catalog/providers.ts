/**
 * The providers that Darkroom knows, with their names and what each needs before requests
 * can use it. A provider with a key is enabled once the key is set. A provider that signs
 * with the function's role is enabled once an operator has switched it on.
 */
export interface ProviderInfo {
  readonly title: string;
  /**
   * 'none': the provider is always enabled. 'role': calls are signed with the function's role, and an
   * operator switches the provider on. 'key': the vendor issues a key, which Secrets Manager keeps.
   */
  readonly credential: 'none' | 'role' | 'key';
  /** The page where an operator gets the key or the access. */
  readonly accessAt?: string;
}

export const providers = {
  sandbox: { title: 'Sandbox', credential: 'none' },
  'sandbox-large': { title: 'Sandbox, the second', credential: 'none' },
  bedrock: {
    title: 'Amazon Bedrock',
    credential: 'role',
    accessAt: 'https://console.aws.amazon.com/bedrock/home?region=us-west-2#/modelaccess',
  },
  openai: { title: 'OpenAI', credential: 'key', accessAt: 'https://platform.openai.com/api-keys' },
  google: { title: 'Google Gemini', credential: 'key', accessAt: 'https://aistudio.google.com/apikey' },
  bfl: { title: 'Black Forest Labs', credential: 'key', accessAt: 'https://dashboard.bfl.ai' },
  fal: { title: 'fal', credential: 'key', accessAt: 'https://fal.ai/dashboard/keys' },
  replicate: { title: 'Replicate', credential: 'key', accessAt: 'https://replicate.com/account/api-tokens' },
  alibaba: {
    title: 'Alibaba Model Studio',
    credential: 'key',
    accessAt: 'https://modelstudio.console.alibabacloud.com',
  },
  ideogram: { title: 'Ideogram', credential: 'key', accessAt: 'https://ideogram.ai/platform' },
  xai: { title: 'xAI', credential: 'key', accessAt: 'https://console.x.ai' },
  recraft: { title: 'Recraft', credential: 'key', accessAt: 'https://app.recraft.ai/profile/api' },
  byteplus: {
    title: 'BytePlus ModelArk',
    credential: 'key',
    accessAt: 'https://console.byteplus.com/ark/apiKey',
  },
} as const satisfies Readonly<Record<string, ProviderInfo>>;

export type ProviderName = keyof typeof providers;

const sandboxes: readonly string[] = ['sandbox', 'sandbox-large'] satisfies ProviderName[];

/** Whether the provider paints its pictures itself and obeys the directives of a prompt. */
export function isSandbox(name: string): boolean {
  return sandboxes.includes(name);
}

/** The providers that can call back when a job has ended. The others answer at once, or are asked. */
const callingBack: readonly string[] = ['fal', 'replicate'] satisfies ProviderName[];

/** Whether the provider can call back when a job has ended. */
export function canCallBack(name: string): boolean {
  return callingBack.includes(name);
}

/** Whether Darkroom knows the provider by itself. The others are configured by an operator. */
export function isBuiltIn(name: string): name is ProviderName {
  return Object.hasOwn(providers, name);
}

/** An operator has paused the provider for all accounts. */
export interface ProviderPause {
  /** RFC 3339. */
  readonly since: string;
  readonly reason?: string;
}

/** The operator's switches of all providers. */
export interface ProviderSwitches {
  /** Providers with a key, or switched on by an operator. */
  readonly enabledProviders: readonly string[];
  /** Absent: no provider is paused. */
  readonly pausedProviders?: readonly string[];
}

/** Whether new creations may use the provider. */
export function isUsable(
  name: string,
  { enabledProviders, pausedProviders = [] }: ProviderSwitches,
): boolean {
  return isEnabled(name, enabledProviders) && !pausedProviders.includes(name);
}

/** Whether the provider is switched on: it needs nothing, or it is in the list of enabled providers. */
export function isEnabled(name: string, enabled: readonly string[]): boolean {
  return enabled.includes(name) || (isBuiltIn(name) && providers[name].credential === 'none');
}
