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

export interface ExecutionParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly images: ImageDelivery;
  readonly encryptionSecret: EncryptionSecret;
  readonly providers: ProviderAccess;
}

export function addExecution(scope: Construct, add: AddFunction, parts: ExecutionParts): CreationExecution {
  const { settings, store, images, encryptionSecret } = parts;
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
    description: 'Sends one attempt of a webhook or a notice',
    // Most of its time it waits for the customer's receiver.
    memoryMegabytes: 256,
  });
  deliverWebhook.addEnvironment('RESULTS_BASE_URL', images.baseUrl);
  deliverWebhook.addEnvironment('OUTBOUND_RULES', 'public');
  store.grantRead(deliverWebhook, 'GetItem', 'BatchGetItem');
  store.grantWrite(deliverWebhook, workItems, 'UpdateItem', 'PutItem');
  encryptionSecret.grantOpen(deliverWebhook);
  const execution = new CreationExecution(scope, 'Creation', {
    tasks: {
      RenderImage: renderImage,
      RenderImageSmall: renderImageSmall,
      RenderImageLarge: renderImageLarge,
      RefundCharge: refundCharge,
      DeliverWebhook: deliverWebhook,
    },
    logRetention: settings.logRetentionDays,
    tracing: settings.tracing,
  });
  for (const fn of [renderImage, renderImageSmall, renderImageLarge])
    execution.grantEndTasks(fn, 'SendTaskSuccess', 'SendTaskHeartbeat');
  return execution;
}

/** One of the functions that render: the same code and rights, with the memory for its pictures. */
function addRenderer(
  add: AddFunction,
  id: string,
  renderer: Renderer,
  { settings, store, images, providers }: ExecutionParts,
): ServiceFunction {
  const { description, memoryMegabytes } = rendererSizes[renderer];
  const fn = add(id, 'render-image', {
    description,
    // More than 12 minutes, the longest deadline of a creation.
    timeout: Duration.seconds(780),
    memoryMegabytes,
  });
  fn.addEnvironment('RESULT_DAYS', String(settings.resultDays));
  store.grantRead(fn, 'BatchGetItem', 'GetItem');
  store.grantWrite(fn, [...workItems, 'HEALTH#*'], 'UpdateItem');
  images.grantStore(fn);
  images.grantFind(fn);
  providers.grantUse(fn);
  if (settings.providerNetwork) joinNetwork(fn, settings.providerNetwork);
  return fn;
}
