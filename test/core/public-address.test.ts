import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isPublicAddress } from '../../core/public-address.ts';

describe('a public address', () => {
  it.each([
    ['an IPv4 host', '93.184.216.34'],
    ['the address before 10.0.0.0/8', '9.255.255.255'],
    ['the address behind 10.0.0.0/8', '11.0.0.0'],
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

  it.each([
    ['an empty text', ''],
    ['a host name', 'example.com'],
    ['this network', '0.0.0.0'],
    ['a private host of 10.0.0.0/8', '10.255.255.255'],
    ['a private host of 172.16.0.0/12', '172.16.0.1'],
    ['a private host of 192.168.0.0/16', '192.168.1.1'],
    ['the loopback of IPv4', '127.0.0.1'],
    ['a link-local host of IPv4', '169.254.169.254'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['a multicast group', '224.0.0.1'],
    ['the broadcast address', '255.255.255.255'],
    ['the loopback of IPv6', '::1'],
    ['an IPv4 address mapped to IPv6', '::ffff:93.184.216.34'],
    ['a link-local host of IPv6', 'fe80::1'],
    ['a unique local host', 'fd00::1'],
    ['NAT64', '64:ff9b::5db8:d822'],
    ['an address below 2000::/3', '1fff:ffff::1'],
    ['an address above 2000::/3', '4000::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['the documentation of RFC 3849', '2001:db8::1'],
    ['6to4', '2002:a00:1::1'],
    ['the documentation of RFC 9637', '3fff:fff:ffff::1'],
    ['ISATAP over a public prefix', '2606:4700::5efe:0a00:1'],
    ['ISATAP with the universal bit', '2606:4700::200:5efe:0a00:1'],
  ])('A public address is never %s: %s', (_what, address) => {
    expect(isPublicAddress(address)).toBe(false);
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
