/** Why a webhook was not delivered, in one sentence, and what to do about it. */
import type { Delivery } from '../ports/deliveries.ts';
import type { FailureKind } from '../ports/outbound.ts';

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
