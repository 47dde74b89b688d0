import { describe, expect, it } from 'vitest';
import { clientAddress } from '../../service/outbound/client-address.ts';
import {
  literalAddress,
  type OutboundRules,
  type Purpose,
  readClientUrl,
} from '../../service/outbound/client-url.ts';
import { isLoopbackAddress, isPublicAddress } from '../../service/outbound/public-address.ts';

/** 'fit', or the code and the reason of the refusal. */
function read(text: string, purpose: Purpose, rules: OutboundRules): string {
  const found = readClientUrl(text, purpose, rules);
  return found.kind === 'fit' ? 'fit' : `${found.code}: ${found.why}`;
}

const long = (length: number): string => `https://a.test/${'a'.repeat(length - 15)}`;

const notHttps = 'refused_target: must be an https address';

const notHttp = 'refused_target: must be an http or https address';

const userinfo = 'refused_target: must not contain a user name or password';

const webhookPort = 'refused_target: must use port 443, or 1024 and above';

const imagePort = 'refused_target: must use port 80, 443, or 1024 and above';

const notPublic = 'refused_target: must lead to public addresses only';

describe('an address that a client gives', () => {
  it.each<[string, Purpose, string]>([
    ['https://a.test/hook?order=7', 'webhook', 'fit'],
    ['https://a.test:443/', 'webhook', 'fit'],
    ['https://a.test:1024/', 'webhook', 'fit'],
    ['https://a.test:65535/', 'webhook', 'fit'],
    ['https://93.184.215.14/', 'webhook', 'fit'],
    ['https://[2606:4700::1111]/', 'webhook', 'fit'],
    // A name that begins like an address is a name.
    ['https://10.0.0.1.example.com/', 'webhook', 'fit'],
    ['https://bücher.example./', 'webhook', 'fit'],
    [long(2048), 'webhook', 'fit'],
    [`https://a.test/${'😀'.repeat(2033)}`, 'webhook', 'fit'],
    [`https://a.test/${'😀'.repeat(2034)}`, 'webhook', 'too_long: must have at most 2048 characters'],
    [long(2049), 'webhook', 'too_long: must have at most 2048 characters'],
    ['http://a.test/', 'webhook', notHttps],
    ['ftp://a.test/', 'webhook', notHttps],
    ['hooks', 'webhook', notHttps],
    ['', 'webhook', notHttps],
    ['https://user@a.test/', 'webhook', userinfo],
    ['https://:secret@a.test/', 'webhook', userinfo],
    ['https://a.test:80/', 'webhook', webhookPort],
    ['https://a.test:1023/', 'webhook', webhookPort],
    ['https://127.0.0.1/', 'webhook', notPublic],
    ['https://2130706433/', 'webhook', notPublic],
    ['https://[::1]/', 'webhook', notPublic],
    ['http://a.test/a.png', 'image', 'fit'],
    ['http://a.test:80/a.png', 'image', 'fit'],
    ['https://a.test/a.png', 'image', 'fit'],
    [long(2049), 'image', 'too_long: must have at most 2048 characters'],
    ['file:///etc/passwd', 'image', notHttp],
    ['data:image/png;base64,AA==', 'image', notHttp],
    ['http://user:secret@a.test/', 'image', userinfo],
    ['http://a.test:22/', 'image', imagePort],
    ['http://169.254.169.254/latest', 'image', notPublic],
  ])(
    'The address %s for a %s is judged as %s where only public addresses are allowed',
    (text, purpose, verdict) => {
      expect(read(text, purpose, 'public')).toBe(verdict);
    },
  );

  it.each<[string, Purpose, string]>([
    ['http://127.0.0.1:81/hook', 'webhook', 'fit'],
    ['http://[::1]:22/a.png', 'image', 'fit'],
    // A name may turn out to be this machine when it is resolved.
    ['http://localhost:81/hook', 'webhook', 'fit'],
    ['http://a.test/hook', 'webhook', 'fit'],
    ['http://93.184.215.14/hook', 'webhook', notHttps],
    ['https://93.184.215.14:80/hook', 'webhook', webhookPort],
    ['https://10.0.0.1/', 'webhook', notPublic],
    ['ftp://localhost/', 'webhook', notHttps],
    ['http://user@localhost/', 'webhook', userinfo],
    [long(2049), 'webhook', 'too_long: must have at most 2048 characters'],
  ])(
    'The address %s for a %s is judged as %s where this machine is allowed as well',
    (text, purpose, verdict) => {
      expect(read(text, purpose, 'loopback-too')).toBe(verdict);
    },
  );
});

describe('the reading of an address', () => {
  it('The reading gives the parsed address when the address is fit', () => {
    expect(readClientUrl('https://A.test:443/x', 'webhook', 'public')).toEqual({
      kind: 'fit',
      url: new URL('https://a.test/x'),
    });
  });

  it.each([
    ['https://127.1/', '127.0.0.1'],
    ['https://0x7f.1/', '127.0.0.1'],
    ['https://[::1]/', '::1'],
    ['https://a.test/', undefined],
    ['https://1.2.3.4.test/', undefined],
  ])('The address %s has the literal address %s', (text, literal) => {
    expect(literalAddress(new URL(text))).toBe(literal);
  });
});

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

describe('a public address', () => {
  it.each([
    ['an IPv4 host', '93.184.216.34'],
    ['the address before 10.0.0.0/8', '9.255.255.255'],
    ['the address behind 10.0.0.0/8', '11.0.0.0'],
    ['the address before 172.16.0.0/12', '172.15.0.1'],
    ['the address behind 172.16.0.0/12', '172.32.0.1'],
    ['the address before 100.64.0.0/10', '100.63.255.255'],
    ['the address before 192.168.0.0/16', '192.167.1.1'],
    ['the address before 169.254.0.0/16', '169.253.255.255'],
    ['the first of the global unicast addresses but one range', '2003::1'],
    ['an IPv6 host', '2606:4700::1111'],
    ['the last of 2000::/3 that is no documentation', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['the address behind the documentation of RFC 9637', '3fff:1000::1'],
    ['the address behind Teredo and its neighbours', '2001:200::1'],
    ['the address before 2001:db8::/32', '2001:db7:ffff::1'],
    ['the address behind 2001:db8::/32', '2001:db9::1'],
    ['5eff in the place of the ISATAP mark', '2606:4700::5eff:0a00:1'],
    ['5efd in the place of the ISATAP mark', '2606:4700::5efd:0a00:1'],
    ['the ISATAP mark behind another group', '2606:4700::1:5efe:0a00:1'],
    ['the ISATAP mark in the group before its place', '2606:4700:0:0:5efe:0:0a00:1'],
  ])('A public address can be %s: %s', (_what, address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('the address of the machine itself', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.255.255', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['128.0.0.1', false],
    ['126.255.255.255', false],
    ['::2', false],
    ['10.0.0.1', false],
    ['localhost', false],
    ['', false],
  ])('The address %s belongs to the machine itself: %j', (address, isLoopback) => {
    expect(isLoopbackAddress(address)).toBe(isLoopback);
  });
});
