/** The header `Stripe-Signature`: `t=SECONDS,v1=HEX[,v1=HEX]`. docs.stripe.com/webhooks (read 2026-11-27). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isTimely } from '../../vendors/callback-keys.ts';

/**
 * Whether one of the secrets signed these bytes at most five minutes ago. While Stripe rolls its secret, the header has
 * several v1; while we roll ours, there are two secrets. Other schemes than v1 count for nothing.
 */
export function isSignedByStripe(
  header: string | undefined,
  body: Uint8Array,
  secrets: readonly string[],
  nowMillis: number,
): boolean {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const [, time = ''] = parts.find(([scheme]) => scheme === 't') ?? [];
  if (!isTimely(time, nowMillis)) return false;
  const given = parts.flatMap(([scheme, hex = '']) => (scheme === 'v1' ? [Buffer.from(hex, 'hex')] : []));
  return secrets.some((secret) => {
    const due = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
    return given.some((one) => one.byteLength === due.byteLength && timingSafeEqual(one, due));
  });
}
