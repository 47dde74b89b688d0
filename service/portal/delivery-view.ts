/** A delivery as the portal shows it. The headers are made anew from its row, with cut signatures. */
import type { DeliveryDetail, DeliveryRow } from '../contract/portal-views.ts';
import type { FailureKind } from '../outbound/outbound.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import { nilId, sampleBodyOf } from '../webhooks/samples.ts';
import { isNotice, messageIdOf, webhookAttempts, webhookHeaders } from '../webhooks/webhook.ts';

/** Why a webhook was not delivered, in one sentence, and what to do about it. */
const ofKind: Readonly<Record<FailureKind, string>> = {
  address_refused:
    'The address is not allowed: it must be https and public. Use an address that can be reached from the internet.',
  dns: 'The host name has no address. Check its spelling and its DNS records.',
  timeout: 'No complete answer came within 10 seconds. Answer with 200 at once, and do the work afterwards.',
  connection_refused: 'The host refused the connection. Start the server, or open the port in its firewall.',
  connection_closed:
    'The connection was closed before a whole answer came. Look for a crash or a limit in the log of the server.',
  unreachable: 'The host cannot be reached. Check its network and its firewall.',
  tls: 'The TLS handshake failed. Check that this port serves https with TLS 1.2 or newer.',
  tls_expired: 'The certificate of the host has expired. Renew it.',
  tls_self_signed:
    'The certificate of the host is self-signed. Use one of a public authority, such as Let’s Encrypt.',
  tls_wrong_name: 'The certificate is for another host name. Get one for the name in the address.',
  tls_chain: 'The certificate chain is not complete. Let the server send the intermediate certificates, too.',
  too_large: 'The headers of the answer were too long. Answer with fewer headers.',
  no_http: 'The answer was no valid HTTP. Check that the address belongs to a web server.',
};

/** What older releases wrote, in the words of the log. */
const ofReason: Readonly<Record<string, FailureKind>> = {
  'address refused': 'address_refused',
  'name not resolved': 'dns',
  timeout: 'timeout',
  'connection refused': 'connection_refused',
  'connection closed': 'connection_closed',
  tls: 'tls',
};

const ofStatus: Readonly<Record<number, string>> = {
  400: 'The receiver answered 400: it did not accept the body. Compare its expectations with the body shown here.',
  401: 'The receiver answered 401: it wants other credentials, or the signature did not verify. Check the secret that it uses.',
  403: 'The receiver answered 403: it refuses the request. Check the secret that it uses, and its firewall.',
  404: 'The receiver answered 404: nothing is at this path. Check the path of the address.',
  405: 'The receiver answered 405: it takes no POST at this path. Let it accept POST.',
  408: 'The receiver answered 408: it waited too long for itself. Answer with 200 at once.',
  410: 'The receiver answered 410, which ends the deliveries of this webhook. Answer otherwise if you still want them.',
  413: 'The receiver answered 413: the body is too large for it. Raise its limit to 256 KB.',
  415: 'The receiver answered 415: it does not take application/json. Let it accept JSON.',
  429: 'The receiver answered 429: it gets too many requests. Raise its limit for webhooks.',
};

/** The sentence for an attempt that failed. Null when it did not, or when its end is unknown. */
export function deliveryReason(delivery: Delivery): string | null {
  const { outcome, status, failure, reason = '' } = delivery;
  if (outcome !== 'failed') return null;
  if (status !== undefined) return ofStatus[status] ?? ofOtherStatus(status);
  return ofKind[failure ?? ofReason[reason] ?? 'no_http'];
}

function ofOtherStatus(status: number): string {
  if (status >= 500)
    return `The receiver answered ${status}: it failed. Look into its log at the time of the attempt.`;
  if (status >= 300 && status < 400)
    return `The receiver answered with a redirect (${status}), which is never followed. Use the final address.`;
  return `The receiver answered ${status}. Only a status from 200 to 299 counts as delivered.`;
}

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
    endpoint: delivery.endpointId ?? null,
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

/** @param body undefined: it is gone @param canRedeliver whether the creation's webhook is settled */
export function deliveryDetail(
  delivery: Delivery,
  body: string | undefined,
  canRedeliver: boolean,
): DeliveryDetail {
  const { status, responseHeaders = {}, responseExcerpt = '' } = delivery;
  const sent = isTest(delivery) ? sampleBodyOf(delivery) : body;
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
  const { id, event, attempt, startedAt, signedAt, cuts, noticeId, creationId, endpointId } = delivery;
  const messageId = messageIdOf(noticeId ?? `${isTest(delivery) ? id : creationId}:${event}`, endpointId);
  const headers = webhookHeaders(
    {
      ...{ event, isNotice: isNotice(event), messageId, deliveryId: id, attempt, body: '' },
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
