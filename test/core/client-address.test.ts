import { describe, expect, it } from 'vitest';
import { clientAddress } from '../../core/client-address.ts';

describe('the address by which rejected authentications are counted', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:0000:0000:0000:0001', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['2001:db8:0000::0:1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1:2:3::', '1:2:3:0::/64'],
    ['::5:6:7:8', '0:0:0:0::/64'],
    ['::4:5:6:7:8', '0:0:0:4::/64'],
    ['2001:db8::ffff:203.0.113.7', '2001:db8:0:0::/64'],
    ['::ffff:203.0.113.7.9', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('The client address %s is counted as %s', (sourceIp, counted) => {
    expect(clientAddress(sourceIp)).toBe(counted);
  });

  it('The counted address is the same for all hosts of a /64, and differs for the next /64', () => {
    const one = clientAddress('2001:db8:1:2:aaaa:bbbb:cccc:dddd');
    expect(clientAddress('2001:db8:1:2::9')).toBe(one);
    expect(clientAddress('2001:db8:1:3::9')).not.toBe(one);
  });
});
