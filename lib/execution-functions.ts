/** The functions of an execution, and the state machines that call them. */
import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Renderer } from '../service/creations/machines.ts';
import { CreationExecution } from './creation-execution.ts';
import type { ImageDelivery } from './image-delivery.ts';
import { joinNetwork } from './provider-network.ts';
import { rendererSizes } from './renderer-sizes.ts';
import type { EncryptionSecret, ProviderAccess } from './secrets.ts';
import type { AddFunction, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import { type Store, workItems } from './store.ts';

/** The ids of the functions that render. */
export const renderers = ['RenderImage', 'RenderImageSmall', 'RenderImageLarge'];

export interface ExecutionParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly images: ImageDelivery;
  readonly encryptionSecret: EncryptionSecret;
  readonly providers: ProviderAccess;
}

export function addExecution(scope: Construct, add: AddFunction, parts: ExecutionParts): CreationExecution {
  const { settings, store, images } = parts;
  const renderImage = addRenderer(add, 'RenderImage', 'any', parts);
  images.grantReadSources(renderImage);
  const renderImageSmall = addRenderer(add, 'RenderImageSmall', 'small', parts);
  const renderImageLarge = addRenderer(add, 'RenderImageLarge', 'large', parts);

  const refundCharge = add('RefundCharge', 'refund-charge', {
    description: 'Fails a creation and gives its charge back',
  });
  store.grantRead(refundCharge, 'GetItem');
  store.grantWrite(refundCharge, workItems, 'UpdateItem', 'PutItem');

  const deliverWebhook = add('DeliverWebhook', 'deliver-webhook', {
    description: 'Makes one attempt of a webhook, a notice or a copy',
    // Most of its time it waits for the customer's receiver.
    memoryMegabytes: 256,
  });
  grantDelivery(deliverWebhook, parts);
  // It copies pictures into the buckets of clients.
  images.grantReadResults(deliverWebhook);
  const execution = new CreationExecution(scope, 'Creation', {
    tasks: [renderImage, renderImageSmall, renderImageLarge, refundCharge, deliverWebhook],
    logRetention: settings.logRetentionDays,
    tracing: settings.tracing,
  });
  for (const fn of [renderImage, renderImageSmall, renderImageLarge])
    execution.grantEndTasks(fn, 'SendTaskSuccess', 'SendTaskHeartbeat');
  return execution;
}

/** What an attempt to deliver a webhook needs, but for the start of notices. */
export function grantDelivery(
  fn: ServiceFunction,
  { store, images, encryptionSecret }: Pick<ExecutionParts, 'store' | 'images' | 'encryptionSecret'>,
): void {
  images.grantAddresses(fn);
  fn.addEnvironment('OUTBOUND_RULES', 'public');
  // The query sums the keys of an account that has a budget.
  store.grantRead(fn, 'GetItem', 'BatchGetItem', 'Query');
  store.grantWrite(fn, workItems, 'UpdateItem', 'PutItem');
  encryptionSecret.grantOpen(fn);
}

/** One of the functions that render: the same code and rights, with the memory for its pictures. */
function addRenderer(
  add: AddFunction,
  id: string,
  renderer: Renderer,
  parts: ExecutionParts,
): ServiceFunction {
  const { settings, store, images, providers } = parts;
  const { description, memoryMegabytes } = rendererSizes[renderer];
  const fn = add(id, 'render-image', {
    description,
    // More than 12 minutes, the longest deadline of a creation.
    timeout: Duration.seconds(780),
    memoryMegabytes,
  });
  fn.addEnvironment('RESULT_DAYS', String(settings.resultDays));
  fn.addEnvironment('THUMBNAILS', settings.thumbnails ? 'on' : 'off');
  grantDelivery(fn, parts);
  store.grantWrite(fn, ['HEALTH#*'], 'UpdateItem');
  images.grantStore(fn);
  images.grantFind(fn);
  if (settings.thumbnails) images.grantRemoveThumbnails(fn);
  providers.grantUse(fn);
  if (settings.providerNetwork) joinNetwork(fn, settings.providerNetwork);
  return fn;
}
