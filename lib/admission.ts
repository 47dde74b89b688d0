/** Which functions know the setting serviceCapacity (decision 3). */
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

/** Functions that begin or end creations, that compare the count with the capacity, or that show both. */
const knowing = [
  'GenerateImage',
  'CancelCreation',
  'OpenaiImages',
  'Mcp',
  'PortalGenerate',
  'PortalCancel',
  'PortalRead',
  'RenderImage',
  'RenderImageSmall',
  'RenderImageLarge',
  'RefundCharge',
  'ReceiveCallback',
  'Reconcile',
];

export function tellCapacity(
  functionNamed: (id: string) => ServiceFunction,
  { serviceCapacity }: Pick<Settings, 'serviceCapacity'>,
): void {
  for (const id of knowing) functionNamed(id).addEnvironment('SERVICE_CAPACITY', String(serviceCapacity));
}
