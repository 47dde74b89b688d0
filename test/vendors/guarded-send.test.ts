/** A request of a configured provider: how much of an answer it reads, and the addresses of private networks. */
import { afterAll, describe, expect, it } from 'vitest';
import { isReachableInside } from '../../service/outbound/public-address.ts';
import { sendTo } from '../../service/vendors/guarded-send.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());

describe('A guarded request', () => {
  it('An answer that is too large is cut off and refused', async () => {
    vendor.answerWith({ status: 200, body: 'x'.repeat(11) });
    const send = sendTo('private');
    const request = { method: 'GET', headers: {}, signal: never } as const;
    await expect(send(vendor.url, { ...request, mostBytes: 10 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    expect((await send(vendor.url, { ...request, mostBytes: 11 })).bytes.byteLength).toBe(11);
  });

  it.each([
    ['93.184.216.34', true],
    ['10.0.0.7', true],
    ['192.168.0.1', true],
    ['127.0.0.1', true],
    ['100.64.0.1', true],
    ['::1', true],
    ['fd12::7', true],
    ['2606:4700::1111', true],
    ['::ffff:10.0.0.7', true],
    ['169.254.0.1', false],
    ['fe80::1', false],
    ['192.0.2.1', false],
    ['not an address', false],
  ])('On a private network, %s may be called: %s', (address, isAllowed) => {
    expect(isReachableInside(address)).toBe(isAllowed);
  });
});
