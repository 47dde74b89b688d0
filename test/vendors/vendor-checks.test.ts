/** The call that asks a vendor about our key, and what the status of the answer means. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeVendor, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { checkAlibaba } from '../../service/vendors/alibaba.ts';
import { checkBfl } from '../../service/vendors/bfl.ts';
import { compatibleVendors } from '../../service/vendors/compatible/vendors.ts';
import { checkFal } from '../../service/vendors/fal/provider.ts';
import { checkGoogle } from '../../service/vendors/google.ts';
import { checkIdeogram } from '../../service/vendors/ideogram.ts';
import { checkOpenai } from '../../service/vendors/openai.ts';
import { checkReplicate } from '../../service/vendors/replicate/provider.ts';
import type { CredentialCheck, VendorSettings } from '../../service/vendors/provider.ts';
import type { KeyProvider } from './vendor-talk.ts';

type Check = (settings: VendorSettings, signal: AbortSignal) => Promise<CredentialCheck>;

const byCall = {
  200: 'accepted',
  204: 'accepted',
  299: 'accepted',
  300: 'unchecked',
  400: 'unchecked',
  401: 'refused',
  402: 'refused',
  403: 'refused',
  404: 'unchecked',
  429: 'unreachable',
  499: 'unchecked',
  500: 'unreachable',
  503: 'unreachable',
};
interface Checked {
  readonly check: Check;
  readonly asks: string;
  readonly header: readonly [string, string];
  readonly says: Readonly<Record<number, string>>;
}
const checked = (
  check: Check,
  asks: string,
  header: Checked['header'] = ['authorization', 'Bearer the key'],
  says: Checked['says'] = byCall,
): Checked => ({ check, asks, header, says });
const vendors: Readonly<Record<KeyProvider, Checked>> = {
  bfl: checked(checkBfl, 'GET /v1/credits', ['x-key', 'the key']),
  fal: checked(checkFal, 'GET /v1/models/pricing?endpoint_id=fal-ai/flux-2-pro', [
    'authorization',
    'Key the key',
  ]),
  replicate: checked(checkReplicate, 'GET /v1/account'),
  alibaba: checked(checkAlibaba, 'GET /compatible-mode/v1/models'),
  ideogram: checked(checkIdeogram, 'GET /models', ['api-key', 'the key']),
  xai: checked(compatibleVendors.xai.check, 'GET /v1/models'),
  recraft: checked(compatibleVendors.recraft.check, 'GET /v1/users/me'),
  byteplus: checked(compatibleVendors.byteplus.check, 'GET /api/v3/models'),
  google: {
    check: checkGoogle,
    asks: 'GET /v1beta/models?pageSize=1',
    header: ['x-goog-api-key', 'the key'],
    says: {
      200: 'accepted',
      400: 'refused',
      401: 'refused',
      403: 'refused',
      404: 'unreachable',
      429: 'unreachable',
      500: 'unreachable',
    },
  },
  openai: {
    check: checkOpenai,
    asks: 'GET /v1/models',
    header: ['authorization', 'Bearer the key'],
    says: {
      200: 'accepted',
      400: 'unreachable',
      401: 'refused',
      403: 'unchecked',
      429: 'unreachable',
      500: 'unreachable',
    },
  },
};
const rows = Object.entries(vendors).flatMap(([name, { check, says }]) =>
  Object.entries(says).map(([status, verdict]) => [name, Number(status), verdict, check] as const),
);

let status = 200;
let vendor: FakeVendor;
beforeAll(async () => {
  vendor = await startFakeVendor(() => ({ status, body: {} }));
});
afterAll(() => vendor.stop());

const settings = (name: string, key: string | undefined): VendorSettings => ({
  name,
  baseUrl: vendor.url,
  credentials: { read: () => Promise.resolve(key), forget: () => undefined },
  clock: systemClock,
});

describe('The key of a vendor', () => {
  it.each(rows)('The key of %s is judged by the status %i as %s', async (name, answered, verdict, check) => {
    status = answered;
    const checked = await check(settings(name, 'the key'), new AbortController().signal);
    expect(checked.verdict).toBe(verdict);
  });

  it.each(Object.entries(vendors))(
    'The check of the key of %s makes a call that costs nothing',
    async (name, { check, asks, header: [header, value] }) => {
      status = 200;
      await check(settings(name, 'the key'), new AbortController().signal);
      const last = vendor.received.at(-1);
      expect([`${last?.method ?? ''} ${last?.path ?? ''}`, last?.headers[header]]).toEqual([asks, value]);
    },
  );

  it.each(Object.entries(vendors))(
    'The check of the key of %s makes no call when there is no key',
    async (name, { check }) => {
      const before = vendor.received.length;
      expect(await check(settings(name, undefined), new AbortController().signal)).toEqual({
        verdict: 'unchecked',
        detail: 'no credential',
      });
      expect(vendor.received).toHaveLength(before);
    },
  );
});
