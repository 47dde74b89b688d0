/**
 * The concurrency of Lambda that a deployment sets apart, so that one kind of work cannot take the executions of
 * another kind (decision 3).
 */
import * as z from 'zod';
import { reservation } from './setting-values.ts';

/**
 * The functions of each setting, with their shares. A reservation of Lambda belongs to one function, so the number
 * of a setting is divided by these shares. A reservation is also the most that its function gets.
 */
const shares = {
  // A creation has one submission, which takes up to 25 s with `Prefer: wait`. It has some five polls, and each of them
  // occupies its execution for a tenth of a second.
  api: { GenerateImage: 9, GetCreation: 9, CreateUpload: 1, CancelCreation: 1 },
  refunds: { RefundCharge: 1 },
  deliveries: { DeliverWebhook: 1 },
  reconciler: { Reconcile: 1 },
  // Most pictures are 1K without source images.
  rendering: { RenderImageSmall: 5, RenderImageLarge: 3, RenderImage: 2 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;

type Pool = keyof typeof shares;
const pools = Object.keys(shares) as Pool[];

/** A function with a reservation of zero never runs, so each function of a pool gets one at least. */
const leastOf = (pool: Pool): number => Object.keys(shares[pool]).length;

/** How many invocations run at once, by the kind of work. "shared" reserves nothing. */
export const concurrencySettings = z
  .strictObject(
    {
      /** Reserved for submissions, polls, uploads and cancels of the public API. */
      api: reservation(leastOf('api')).default('shared'),
      refunds: reservation(leastOf('refunds')).default('shared'),
      deliveries: reservation(leastOf('deliveries')).default('shared'),
      reconciler: reservation(leastOf('reconciler')).default('shared'),
      /** The most that the renderers take together. */
      rendering: reservation(leastOf('rendering')).default('shared'),
    },
    { error: `must be {${pools.join(', ')}}` },
  )
  .prefault({});

/** How many executions Lambda reserves for a function, by the construct id of the function. */
export function reservedConcurrency(
  settings: z.output<typeof concurrencySettings>,
): ReadonlyMap<string, number> {
  return new Map(
    pools.flatMap((pool) => {
      const total = settings[pool];
      return total === 'shared' ? [] : divide(total, shares[pool]);
    }),
  );
}

/** Divides a number by shares. The parts are whole, at least 1, and add up to the number. */
function divide(total: number, parts: Readonly<Record<string, number>>): [name: string, part: number][] {
  const all = Object.values(parts).reduce((sum, share) => sum + share, 0);
  const rest = total - Object.keys(parts).length;
  const divided = Object.entries(parts).map(([name, share]): [string, number] => [
    name,
    1 + Math.floor((rest * share) / all),
  ]);
  // The first function has the largest share, so it gets what rounding has left over.
  const left = total - divided.reduce((sum, [, part]) => sum + part, 0);
  return divided.map(([name, part], index) => [name, index === 0 ? part + left : part]);
}
