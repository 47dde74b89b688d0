import * as z from 'zod';

const reserved = z.union([z.int(), z.literal('shared')]).default('shared');

const schema = z.object({
  serviceCapacity: z.int().default(2_000),
  concurrency: z
    .object({
      api: reserved,
      refunds: reserved,
      deliveries: reserved,
      reconciler: reserved,
      rendering: reserved,
    })
    .prefault({}),
  heldRequests: z.object({ images: reserved, mcp: reserved }),
});

/** The settings that say how much the service takes at once. lib/settings.ts has checked them. */
export type CapacitySettings = z.output<typeof schema>;

/** The settings of capacity among all settings. */
export function capacityOf(settings: object): CapacitySettings {
  return schema.parse(settings);
}
