import { describe, expect, it } from 'vitest';
import {
  literalAddress,
  readClientUrl,
  schemeOrPortProblem,
  type OutboundRules,
  type Purpose,
} from '../../core/client-url.ts';

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

  it('The reading gives a code and a reason when the address is refused', () => {
    expect(readClientUrl('x', 'image', 'public')).toEqual({
      kind: 'refused',
      code: 'refused_target',
      why: 'must be an http or https address',
    });
    expect(readClientUrl(long(2049), 'image', 'public')).toEqual({
      kind: 'refused',
      code: 'too_long',
      why: 'must have at most 2048 characters',
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

  it.each([
    ['https://a.test/', 'webhook', undefined],
    ['http://a.test:443/', 'webhook', 'must be an https address'],
    ['https://a.test:444/', 'webhook', 'must use port 443, or 1024 and above'],
    ['https://a.test:81/', 'image', 'must use port 80, 443, or 1024 and above'],
    ['https://a.test:1024/', 'image', undefined],
    ['http://a.test:443/', 'image', undefined],
  ] as const)('The address %s for a %s has this problem of scheme or port: %s', (text, purpose, problem) => {
    expect(schemeOrPortProblem(new URL(text), purpose)).toBe(problem);
  });
});
