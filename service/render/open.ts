import { createCreationStore } from '../creations/creation-store.ts';
import { commonOf, tableOf, tasksOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { recentOperatorCatalog, withConfigured } from '../vendors/open.ts';
import { createHealthStore } from './health-store.ts';

type CompletionPlatform = On<'dynamodb' | 'states' | 'images' | 'vendors'>;
export type CompletionServices = ReturnType<typeof openCompletion>;
/** The providers are those that call back. */
export type CallbackServices = CompletionServices;

function openCompletion(on: CompletionPlatform, component: string) {
  const common = commonOf(on, component);
  const table = tableOf(on);
  return {
    ...common,
    creations: createCreationStore(table),
    health: createHealthStore(table),
    images: on.images(),
    providers: on.vendors,
    tasks: tasksOf(on, common.log),
    resultDays: Number(on.environment('RESULT_DAYS')),
  };
}

export function openCallback(on: CompletionPlatform): CallbackServices {
  return openCompletion(on, 'receive-callback');
}

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
