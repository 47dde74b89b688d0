/** Which functions know the setting serviceCapacity (decision 3). */
import { heldShare } from '../service/contract/limits.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

/** Functions that compare the open creations with the capacity, or that show both. */
const knowing = ['GenerateImage', 'OpenaiImages', 'Mcp', 'PortalGenerate', 'PortalRead'];

export function tellCapacity(
  functionNamed: (id: string) => ServiceFunction,
  { serviceCapacity }: Pick<Settings, 'serviceCapacity'>,
): void {
  for (const id of knowing) functionNamed(id).addEnvironment('SERVICE_CAPACITY', String(serviceCapacity));
}

/** What a door counts as its places when its function shares the executions of the account of AWS. */
const sharedPlaces = 100;

/**
 * The value of HELD_LIMIT: the share that one account may have of the places of a door.
 * @param places the executions that Lambda reserves for the function of the door, or "shared"
 */
export function heldLimit(
  places: number | 'shared',
  { heldSharePercent, alarms }: Pick<Settings, 'heldSharePercent' | 'alarms'>,
): string {
  const { least, most } = heldShare;
  const known = places === 'shared' ? Math.min(sharedPlaces, alarms.concurrentExecutions) : places;
  return String(Math.min(most, Math.max(least, Math.floor((known * heldSharePercent) / 100))));
}
