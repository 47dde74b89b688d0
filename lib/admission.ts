/** Which functions know the setting serviceCapacity (decision 3). */
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
