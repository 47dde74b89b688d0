/** A pending webhook or notice, and what its attempts have in common. */
import type { WebhookState } from '../creations/creation.ts';
import { WorkflowError } from '../creations/payload.ts';
import type { AccountId } from '../values/ids.ts';
import type { DeliveringAccount, Delivery } from './delivery.ts';
import type { DeliveryServices } from './open.ts';
import type { SigningSecrets } from './secrets.ts';
import { webhookHeaders } from './webhook.ts';

/** The clock of an execution may run a little ahead of the record's: the function waits this long. */
export const earlyMillis = 3_000;

/** A pending webhook or notice, with the parts in which the two differ. */
export interface Owed {
  readonly id: Parameters<DeliveryServices['deliveries']['skip']>[0];
  readonly accountId: AccountId;
  readonly webhook: WebhookState;
  readonly ids: Pick<Delivery, 'creationId' | 'noticeId'>;
  readonly logIds: Readonly<Record<string, string>>;
  readonly event: string;
  readonly messageId: string;
  /** The body of the first attempt, which the record keeps for the later ones. */
  readonly bodyAt: (nowMillis: number) => Promise<string>;
  /** Receives the outcome of an attempt, once it is recorded. */
  readonly onEnded?: (isDelivered: boolean, account: DeliveringAccount) => Promise<void>;
}

export function notDelivered(): WorkflowError {
  return new WorkflowError(
    'WebhookNotDelivered',
    'not delivered yet; the record says when the next attempt is due',
  );
}

export function headersOf(
  { messageId, event, ids }: Owed,
  { id: deliveryId, attempt: number }: Delivery,
  body: string,
  secrets: SigningSecrets,
  { clock }: DeliveryServices,
): ReturnType<typeof webhookHeaders> {
  const signedAtSeconds = Math.floor(clock.now() / 1000);
  const isNotice = ids.noticeId !== undefined;
  return webhookHeaders(
    { event, isNotice, messageId, deliveryId, attempt: number, signedAtSeconds, body },
    secrets,
  );
}
