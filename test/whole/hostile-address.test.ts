/**
 * Addresses from clients must lead to public hosts only. The test resolves the names itself, and no
 * connection leaves this machine.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';
import { createOutbound, type Outbound } from '../../service/outbound/outbound.ts';
import { portOf } from '../fixtures/values.ts';

/** The names that the test resolves, each with all its addresses. Every other name gets a public address. */
const names = new Map<string, readonly string[]>([
  ['metadata.test', ['169.254.169.254']],
  ['half-private.test', ['93.184.215.14', '10.0.0.7']],
  ['half-private-v6.test', ['2606:4700::1111', 'fd12::1']],
  ['localhost', ['127.0.0.1', '::1']],
  ['mapped.test', ['::ffff:127.0.0.1']],
  ['nat64.test', ['64:ff9b::7f00:1']],
]);
let asked: string[] = [];
afterEach(() => {
  asked = [];
});

const resolve = async (host: string): Promise<{ address: string; family: number }[]> => {
  asked.push(host);
  const found = names.get(host.replace(/\.$/, '')) ?? ['93.184.215.14'];
  return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
};

const outbound: Outbound = createOutbound('public', { clock: systemClock, resolve });

const hostile: readonly (readonly [form: string, host: string])[] = [
  ['loopback', '127.0.0.1'],
  ['all of loopback', '127.255.255.254'],
  ['this host', '0.0.0.0'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.01'],
  ['hexadecimal', '0x7f.0x0.0x0.0x1'],
  ['hexadecimal in one', '0x7f000001'],
  ['short', '127.1'],
  ['shorter', '0'],
  ['mixed', '0xa9.254.0251.254'],
  ['a trailing dot', '127.0.0.1.'],
  ['a name with a trailing dot', 'localhost.'],
  ['full-width digits', '１２７.０.０.１'],
  ['ideographic full stops', '127。0。0。1'],
  ['percent-encoded', '%31%32%37.0.0.1'],
  ['private 10/8', '10.1.2.3'],
  ['private 172.16/12', '172.31.255.1'],
  ['private 192.168/16', '192.168.0.1'],
  ['shared 100.64/10', '100.64.0.1'],
  ['benchmark 198.18/15', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['reserved 240/4', '240.0.0.1'],
  ['link-local', '169.254.0.1'],
  ['metadata by number', '169.254.169.254'],
  ['metadata by a decimal number', '2852039166'],
  ['metadata of a container', '169.254.170.2'],
  ['metadata by name', 'metadata.test'],
  ['metadata over IPv6', '[fd00:ec2::254]'],
  ['IPv6 loopback', '[::1]'],
  ['IPv6 unspecified', '[::]'],
  ['IPv4-mapped', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped in hex', '[::ffff:a9fe:a9fe]'],
  ['IPv4-compatible', '[::127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['NAT64 with a local prefix', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
  ['ISATAP', '[2606:4700:0:1:0:5efe:7f00:1]'],
  ['ISATAP, the other flag', '[2606:4700:0:1:200:5efe:a00:1]'],
  ['unique local fc00::/7', '[fc00::1]'],
  ['unique local, its other half', '[fdff:ffff::1]'],
  ['IPv6 link-local fe80::/10', '[fe80::1]'],
  ['IPv6 link-local, its end', '[febf::1]'],
  ['site-local', '[fec0::1]'],
  ['IPv6 multicast', '[ff02::1]'],
  ['documentation', '[2001:db8::1]'],
  ['documentation, the new range', '[3fff::1]'],
  ['not given out', '[4000::1]'],
  ['discard', '[100::1]'],
  ['a name with one public and one private address', 'half-private.test'],
  ['the same in IPv6', 'half-private-v6.test'],
  ['a name that is loopback', 'localhost'],
  ['a name that is IPv4-mapped loopback', 'mapped.test'],
  ['a name behind NAT64', 'nat64.test'],
];

const noSignal = new AbortController().signal;

describe.each(hostile)('the hostile address %s, %s', (_form, host) => {
  it('The address is refused as a webhook target, at submission and at every attempt, and as a source image', async () => {
    const url = `https://${host}/hook`;
    expect(await outbound.check(url)).toMatchObject({ kind: 'refused' });
    expect(await outbound.post(url, {}, '{}')).toEqual(refused);
    expect(await outbound.fetchSource(url, noSignal)).toMatchObject({ kind: 'refused' });
    expect(await outbound.fetchSource(`http://${host}/image.png`, noSignal)).toMatchObject({
      kind: 'refused',
    });
  });
});

const refused = { kind: 'unanswered', reason: 'address refused', failure: 'address_refused' };

// test/outbound/client-url.test.ts has more forms, and the addresses that are public.
describe('the form of an address', () => {
  it.each([
    ['userinfo that looks like a host', 'https://example.com@127.0.0.1/'],
    ['port 25', 'https://example.com:25/'],
    ['port 0', 'https://example.com:0/'],
    ['no https', 'ftp://example.com/'],
    ['more than 2048 characters', `https://example.com/${'a'.repeat(2048)}`],
  ])('An address with %s is refused everywhere before any name is resolved', async (_form, url) => {
    expect(await outbound.check(url)).toMatchObject({ kind: 'refused' });
    expect(await outbound.post(url, {}, '{}')).toEqual(refused);
    expect(await outbound.fetchSource(url, noSignal)).toMatchObject({ kind: 'refused' });
    expect(asked).toEqual([]);
  });
});

describe('an address that changes after the check', () => {
  let redirecting: Server;
  let arrivals = 0;
  let location = '';
  const url = (host: string): string => `http://${host}:${portOf(redirecting)}/`;
  beforeAll(async () => {
    redirecting = createServer((_request, response) => {
      arrivals += 1;
      response.writeHead(302, { location }).end();
    }).listen(0, '127.0.0.1');
    await once(redirecting, 'listening');
  });
  afterAll(() => {
    redirecting.closeAllConnections();
    redirecting.close();
  });

  it('No connection is made to a name that turns private between submission and delivery', async () => {
    names.set('turning.test', ['93.184.215.14']);
    const target = `https://turning.test:${portOf(redirecting)}/`;
    expect(await outbound.check(target)).toEqual({ kind: 'allowed' });
    names.set('turning.test', ['127.0.0.1']);
    expect(await outbound.post(target, {}, '{}')).toEqual(refused);
    expect(arrivals).toBe(0);
  });

  it('The connection goes to the address that was checked, even if the name has another address by then', async () => {
    let calls = 0;
    const turning = createOutbound('loopback-too', {
      clock: systemClock,
      resolve: async () => {
        calls += 1;
        return Promise.resolve([{ address: calls === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
      },
    });
    location = 'https://169.254.169.254/';
    const before = arrivals;
    await turning.fetchSource(url('pinned.test'), noSignal);
    expect({ calls, arrived: arrivals - before }).toEqual({ calls: 1, arrived: 1 });
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'https://metadata.test/',
    'http://[::ffff:a9fe:a9fe]/',
    '//10.0.0.1/',
    'http://user@example.com/',
    'http://example.com:22/',
    'file:///etc/passwd',
  ])('A redirect to %s is refused at its hop', async (to) => {
    // The first hop must be reachable on this machine, so loopback is allowed. The target of the redirect is
    // not.
    const local = createOutbound('loopback-too', { clock: systemClock, resolve });
    location = to;
    expect(await local.fetchSource(url('127.0.0.1'), noSignal)).toMatchObject({ kind: 'refused' });
  });

  it('A redirect of a webhook is an answer like any other, and is never followed', async () => {
    const local = createOutbound('loopback-too', { clock: systemClock, resolve });
    location = url('127.0.0.1');
    const before = arrivals;
    expect(await local.post(url('127.0.0.1'), {}, '{}')).toMatchObject({ kind: 'answered', status: 302 });
    expect(arrivals - before).toBe(1);
  });
});
