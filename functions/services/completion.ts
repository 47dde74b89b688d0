import type { CreationStore } from '../../core/ports/creations.ts';
import type { HealthStore } from '../../core/ports/health.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { Tasks } from '../../core/ports/tasks.ts';
import type { Providers } from '../../core/provider.ts';
import type { CommonServices } from './clients.ts';

/** For the functions that bring a creation to its image. */
export interface CompletionServices extends CommonServices {
  readonly creations: CreationStore;
  readonly health: HealthStore;
  readonly images: ImageStore;
  readonly providers: Providers;
  readonly tasks: Tasks;
  /** How long results are kept. */
  readonly resultDays: number;
}
