/** Why a webhook is refused. */

const messages = {
  body_not_raw:
    'The raw body is missing: give the bytes as they arrived. A parsed body has lost the bytes that the signature covers.',
  secret_invalid:
    'The secret is not valid: it is "whsec_" and base64, as the service shows it. Is the variable set?',
  signature_missing: 'The request has neither webhook-signature nor X-Webhook-Signature-256.',
  timestamp_invalid: 'The time of signing is missing, or it is not a number of seconds.',
  timestamp_too_old: 'The request was signed too long ago.',
  timestamp_too_new: 'The request was signed in the future. Check the clock of this machine.',
  signature_mismatch: 'No signature matches: another secret signed, or the body was changed on its way.',
  payload_invalid: 'The signature matches, but the body is neither an event nor a notice.',
} as const;

/**
 * Why a webhook is refused. `body_not_raw` and `secret_invalid` are mistakes of the receiver. All others tell
 * something about the request.
 */
export type WebhookErrorReason = keyof typeof messages;

/**
 * A request that is not a webhook of the service, or that cannot be verified. The message never contains a
 * secret or the body.
 *
 * @example
 * try {
 *   await verifyWebhook(request, secret);
 * } catch (error) {
 *   if (!(error instanceof WebhookError)) throw error;
 *   console.log(error.reason); // 'signature_mismatch'
 * }
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly reason: WebhookErrorReason;

  constructor(reason: WebhookErrorReason, options?: ErrorOptions) {
    super(messages[reason], options);
    this.reason = reason;
  }
}
