import { copyOwed } from '../service/copies/copy-picture.ts';
import { openCopies } from '../service/copies/open.ts';
import type { NoticePayload, Payload } from '../service/creations/payload.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import {
  dynamodb,
  images,
  outbound,
  resultSigner,
  secretBox,
  states,
  topics,
} from '../service/platform/lambda.ts';
import { deliverOrAlarm } from '../service/webhooks/deliver-webhook.ts';
import { type DeliveryServices, openDelivery } from '../service/webhooks/open.ts';

export const handler = lambdaHandler(
  (): DeliveryServices => {
    const on = {
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      states: states(),
      secretBox: secretBox(),
      outbound: outbound(),
      images,
    };
    const copying = openCopies(on);
    return {
      ...openDelivery(on, 'deliver-webhook', topics()),
      copyOwed: (work, services) => copyOwed(work, { ...services, ...copying }),
    };
  },
  async (payload: Payload | NoticePayload, services: DeliveryServices) => deliverOrAlarm(payload, services),
);
