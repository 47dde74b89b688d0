import { createCreationStore } from '../creations/creation-store.ts';
import { commonOf, tableOf, tasksOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { createHealthStore } from './health-store.ts';

export type CompletionPlatform = On<'dynamodb' | 'states' | 'images' | 'vendors'>;
export type CompletionServices = ReturnType<typeof openCompletion>;
/** The providers are those that call back. */
export type CallbackServices = CompletionServices;

/** For the functions that bring a creation to its image. */
export function openCompletion(on: CompletionPlatform, component: string) {
  const common = commonOf(on, component);
  const table = tableOf(on);
  return {
    ...common,
    creations: createCreationStore(table),
    health: createHealthStore(table),
    images: on.images(),
    providers: on.vendors,
    tasks: tasksOf(on, common.log),
    /** How long results are kept. */
    resultDays: Number(on.environment('RESULT_DAYS')),
  };
}

export function openCallback(on: CompletionPlatform): CallbackServices {
  return openCompletion(on, 'receive-callback');
}
