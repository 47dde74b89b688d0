/**
 * The providers that Darkroom knows: what each is called, and what it needs before it
 * can be used. A vendor is enabled once its credential is set (or, where there is none
 * to set, once an operator has switched it on).
 */
export interface ProviderInfo {
  readonly title: string;
  /**
   * 'none': always enabled. 'role': signed with the function's own role, switched on by
   * hand. 'key': a key of the vendor, kept in Secrets Manager.
   */
  readonly credential: 'none' | 'role' | 'key';
  /** Where an operator gets access. */
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
} as const satisfies Readonly<Record<string, ProviderInfo>>;

export type ProviderName = keyof typeof providers;

/** Whether requests may be routed to it: it needs nothing, or an operator has set what it needs. */
export function isEnabled(name: ProviderName, enabled: readonly string[]): boolean {
  return providers[name].credential === 'none' || enabled.includes(name);
}
