/** Headers that Stripe's own library makes, at our check. */
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { isSignedByStripe } from '../../service/payments/stripe/signature.ts';

const { webhooks } = new Stripe('rk_test_fixture');
const now = 1_795_780_800_000;
const seconds = now / 1_000;
const payload = '{"id":"evt_1","object":"event","note":"é"}';
const secret = 'whsec_ours';

const header = (options: object = {}): string =>
  webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds, ...options });
const accepts = (text: string | undefined, secrets = [secret], body = payload): boolean =>
  isSignedByStripe(text, Buffer.from(body), secrets, now);

describe('the signature of a webhook of Stripe', () => {
  it('A header that Stripe made is accepted with either of our two secrets', () => {
    expect(accepts(header())).toBe(true);
    expect(accepts(header(), ['whsec_new', secret])).toBe(true);
    expect(accepts(header(), ['whsec_new'])).toBe(false);
    expect(accepts(header(), [])).toBe(false);
  });

  it('One fitting v1 of several is enough, as while Stripe rolls its secret', () => {
    const [, other] = header({ secret: 'whsec_old' }).split(',');
    const [time, own] = header().split(',');
    expect(accepts([time, other, own].join(','))).toBe(true);
    expect(accepts([time, other, other].join(','))).toBe(false);
  });

  it('A changed body, another scheme, a missing part and a stale time are refused', () => {
    expect(accepts(header(), [secret], payload.replace('evt_1', 'evt_2'))).toBe(false);
    expect(accepts(header({ scheme: 'v0' }))).toBe(false);
    for (const text of [
      undefined,
      '',
      't=',
      `t=${seconds}`,
      `t=${seconds},v1=`,
      header().replace('v1=', 'v1=00'),
    ])
      expect(accepts(text)).toBe(false);
    expect([-300, 300].map((offset) => accepts(header({ timestamp: seconds + offset })))).toEqual([
      true,
      true,
    ]);
    expect([-301, 301].map((offset) => accepts(header({ timestamp: seconds + offset })))).toEqual([
      false,
      false,
    ]);
  });

  it('A second time beside the signed one is refused', () => {
    const stale = header({ timestamp: seconds - 900 });
    expect(accepts(`t=${seconds},${stale}`)).toBe(false);
    expect(accepts(`${stale},t=${seconds}`)).toBe(false);
  });
});
