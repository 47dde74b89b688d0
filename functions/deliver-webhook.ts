import type { NoticePayload, Payload } from '../service/creations/payload.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb, outbound, secretBox, states, topics } from '../service/platform/lambda.ts';
import { deliverOrAlarm } from '../service/webhooks/deliver-webhook.ts';
import { type DeliveryServices, openDelivery } from '../service/webhooks/open.ts';

export const handler = lambdaHandler(
  () =>
    openDelivery(
      {
        ...base(),
        dynamodb: dynamodb(),
        states: states(),
        secretBox: secretBox(),
        outbound: outbound(),
      },
      'deliver-webhook',
      topics(),
    ),
  async (payload: Payload | NoticePayload, services: DeliveryServices) => deliverOrAlarm(payload, services),
);
