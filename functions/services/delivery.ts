import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createSecretBox } from '../../adapters/secret-box.ts';
import { createNoticeExecutions } from '../../adapters/step-functions.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { DeliveryStore } from '../../core/ports/deliveries.ts';
import type { NoticeExecutions, NoticeStore } from '../../core/ports/notices.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { SecretBox } from '../../core/ports/secret-box.ts';
import { commonServices, randomness, table, type CommonServices } from './clients.ts';
import { environment } from './environment.ts';
import { outbound } from './outbound.ts';

export interface DeliveryServices extends CommonServices {
  readonly creations: CreationStore;
  readonly deliveries: DeliveryStore;
  readonly notices: NoticeStore;
  readonly noticeExecutions: NoticeExecutions;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  readonly resultsBaseUrl: string;
}

export function deliveryServices(): DeliveryServices {
  const store = table();
  return {
    ...commonServices('deliver-webhook'),
    creations: createCreationStore(store),
    deliveries: createDeliveryStore(store),
    notices: createNoticeStore(store),
    noticeExecutions: createNoticeExecutions(new SFNClient(callLimits()), environment('NOTICE_MACHINE_ARN')),
    secretBox: createSecretBox({
      client: new SecretsManagerClient(callLimits()),
      secretArn: environment('ENCRYPTION_SECRET_ARN'),
      clock: systemClock,
      randomBytes: randomness,
    }),
    outbound: outbound(),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
  };
}
