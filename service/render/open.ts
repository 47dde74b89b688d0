import type { On } from '../platform/platform.ts';
import { recentOperatorCatalog, withConfigured } from '../vendors/open.ts';
import { type CompletionPlatform, openCompletion } from './open-completion.ts';

export type RenderServices = ReturnType<typeof openRender>;

export function openRender(on: CompletionPlatform & On<'configured' | 'providerCosts'>) {
  const operated = recentOperatorCatalog(on);
  const callbackBaseUrl = on.environment('CALLBACK_BASE_URL');
  return {
    ...openCompletion(on, 'render-image'),
    providers: withConfigured(on, operated),
    /** Where vendors reach this service. Undefined on one machine that vendors cannot reach: no vendor is asked to call back. */
    callbackBaseUrl: callbackBaseUrl === '' ? undefined : callbackBaseUrl,
    providerCosts: on.providerCosts,
    /** What the operator knows of prices. Throws Overloaded. */
    operatorCosts: async () => (await operated.read())?.costs ?? [],
  };
}
