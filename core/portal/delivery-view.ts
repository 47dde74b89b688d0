/** A delivery as the portal shows it. The headers are made anew from its row, with cut signatures. */
import type { Delivery } from '../ports/deliveries.ts';
import { webhookAttempts, webhookHeaders } from '../webhook.ts';
import { nilId, testBody } from '../webhook-operations.ts';
import { deliveryReason } from './delivery-reason.ts';
import type { DeliveryDetail, DeliveryRow } from './views.ts';

/** Whether the delivery was sent by a test. A test names a creation that does not exist. */
export function isTest({ creationId }: Pick<Delivery, 'creationId'>): boolean {
  return creationId === nilId;
}

export function deliveryRow(delivery: Delivery): DeliveryRow {
  const { creationId } = delivery;
  const isOfTest = isTest(delivery);
  return {
    id: delivery.id,
    at: delivery.startedAt,
    event: delivery.event,
    creation: creationId === undefined || isOfTest ? null : creationId,
    is_test: isOfTest,
    host: URL.canParse(delivery.url) ? new URL(delivery.url).host : '',
    attempt: delivery.attempt,
    of: isOfTest ? 1 : webhookAttempts,
    outcome: delivery.outcome ?? 'unknown',
    status: delivery.status ?? null,
    ms: delivery.millis ?? null,
    next_attempt_at: delivery.nextAttemptAt ?? null,
    reason: deliveryReason(delivery),
  };
}

/**
 * @param body the stored body of the creation or the notice. Undefined: it is gone.
 * @param canRedeliver whether the creation's webhook is settled
 */
export function deliveryDetail(
  delivery: Delivery,
  body: string | undefined,
  canRedeliver: boolean,
): DeliveryDetail {
  const { status, responseHeaders = {}, responseExcerpt = '' } = delivery;
  const sent = isTest(delivery) ? testBody(delivery.startedAt) : body;
  return {
    ...deliveryRow(delivery),
    url: delivery.url,
    request: { headers: sentHeaders(delivery), body: sent ?? null },
    response: status === undefined ? null : { status, headers: responseHeaders, body: responseExcerpt },
    can_redeliver: canRedeliver && !isTest(delivery),
  };
}

/** The placeholder for a secret. It has the length of a secret, and signs nothing that is sent. */
const noSecret = 'whsec_';

/** The headers of the attempt. Rows of older releases do not know the time of signing: it is that of the start. */
function sentHeaders(delivery: Delivery): Record<string, string> {
  const { id, event, attempt, startedAt, signedAt, cuts, noticeId, creationId } = delivery;
  const isNotice = noticeId !== undefined;
  const messageId = noticeId ?? `${isTest(delivery) ? id : creationId}:${event}`;
  const headers = webhookHeaders(
    {
      ...{ event, isNotice, messageId, deliveryId: id, attempt, body: '' },
      signedAtSeconds: signedAt ?? Math.floor(Date.parse(startedAt) / 1000),
    },
    { current: noSecret, valid: [], lost: [] },
  );
  return {
    ...headers,
    'x-webhook-signature-256': cuts === undefined ? '…' : `sha256=${cuts.current}…`,
    ...(cuts?.previous !== undefined && {
      'x-webhook-signature-256-previous': `sha256=${cuts.previous}…`,
    }),
    'webhook-signature': cuts === undefined ? '…' : cuts.standard.map((cut) => `v1,${cut}…`).join(' '),
  };
}
