import { tableOf, tasksOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { recentOperatorCatalog, withConfigured } from '../vendors/open.ts';
import { type DeliveryPlatform, openDelivery } from '../webhooks/open.ts';
import { createHealthStore } from './health-store.ts';

type CompletionPlatform = DeliveryPlatform & On<'images' | 'measures' | 'thumbnails' | 'vendors'>;
export type CompletionServices = ReturnType<typeof openCompletion>;
/** The providers are those that call back. */
export type CallbackServices = CompletionServices;

function openCompletion(on: CompletionPlatform, component: string) {
  // The function that completes a creation makes the first attempt to deliver its webhook.
  const delivery = openDelivery(on, component);
  return {
    ...delivery,
    health: createHealthStore(tableOf(on)),
    images: on.images(),
    imagesUntil: on.images,
    /** Undefined: the operator wants no thumbnails. */
    thumbnails: on.environment('THUMBNAILS') === 'on' ? on.thumbnails : undefined,
    measures: on.measures,
    providers: on.vendors,
    tasks: tasksOf(on, delivery.log),
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
    /** The operator's costs of routes. Throws Overloaded. */
    operatorCosts: async () => (await operated.read())?.costs ?? [],
  };
}
