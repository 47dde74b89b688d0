/** Which functions know the setting serviceCapacity (decision 3). */
import { heldShare } from '../service/contract/limits.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

/** Functions that compare the open creations with the capacity, or that show both. */
const knowing = ['GenerateImage', 'OpenaiImages', 'Mcp', 'PortalGenerate', 'PortalRead'];

export function addServiceCapacity(
  functionNamed: (id: string) => ServiceFunction,
  { serviceCapacity }: Pick<Settings, 'serviceCapacity'>,
): void {
  for (const id of knowing) functionNamed(id).addEnvironment('SERVICE_CAPACITY', String(serviceCapacity));
}

/** The slots of a door whose function shares the executions of the account of AWS. */
const sharedSlots = 100;

/**
 * The value of HELD_LIMIT: the slots of a door that one account may hold.
 * @param slots the executions that Lambda reserves for the function of the door, or "shared"
 */
export function heldLimit(
  slots: number | 'shared',
  { heldSharePercent, alarms }: Pick<Settings, 'heldSharePercent' | 'alarms'>,
): string {
  const { least, most } = heldShare;
  const known = slots === 'shared' ? Math.min(sharedSlots, alarms.concurrentExecutions) : slots;
  return String(Math.min(most, Math.max(least, Math.floor((known * heldSharePercent) / 100))));
}
