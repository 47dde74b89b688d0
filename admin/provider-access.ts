/** The pages where an operator gets the key or the access of each provider. Only the command shows them. */
import type { ProviderName, VendorName } from '../service/catalog/providers.ts';

export const accessPages: Readonly<Partial<Record<ProviderName, string>>> = {
  bedrock: 'https://console.aws.amazon.com/bedrock/home?region=us-west-2#/modelaccess',
  openai: 'https://platform.openai.com/api-keys',
  google: 'https://aistudio.google.com/apikey',
  bfl: 'https://dashboard.bfl.ai',
  fal: 'https://fal.ai/dashboard/keys',
  replicate: 'https://replicate.com/account/api-tokens',
  alibaba: 'https://modelstudio.console.alibabacloud.com',
  ideogram: 'https://ideogram.ai/platform',
  xai: 'https://console.x.ai',
  recraft: 'https://app.recraft.ai/profile/api',
  byteplus: 'https://console.byteplus.com/ark/apiKey',
} satisfies Record<VendorName, string>;
