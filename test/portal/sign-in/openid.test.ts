import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { systemClock } from '../../../service/aws/clock.ts';
import {
  createOpenid,
  freshPrompt,
  type IdentityProvider,
  IssuerUnavailable,
  SignInCancelled,
  SignInRefused,
} from '../../../service/portal/sign-in/openid.ts';
import { challengeOf, rude, startFakeIssuer } from '../../vendors/fake-issuer.ts';
import { createLoginBox } from '../../../service/portal/sign-in/open.ts';
import { fakeClock, stub } from '../../api/fakes.ts';
import { seededBytes } from '../../fixtures/records.ts';

const issuer = await startFakeIssuer();
afterEach(() => issuer.reset());
afterAll(() => issuer.end());

const redirectUri = 'https://portal.test/auth/callback';
const secrets = { state: 'state', nonce: 'nonce', codeVerifier: 'v'.repeat(43) };
const begun = { ...secrets, redirectUri };

function provider(options: { millis?: number; url?: string } = {}): IdentityProvider {
  const { millis } = options;
  const clock = {
    ...systemClock,
    timeout: (given: number) => systemClock.timeout(millis === undefined ? given : Math.min(given, millis)),
  };
  return createOpenid({
    issuer: options.url ?? issuer.url,
    clientId: 'portal',
    clientSecret: () => Promise.resolve('s:/ecret'),
    clock,
  })(new AbortController().signal);
}

function callback(change: Record<string, string | undefined> = {}): URL {
  const url = new URL(redirectUri);
  const usual = { code: 'code', state: 'state', iss: issuer.url };
  const all: Record<string, string | undefined> = { ...usual, ...change };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

describe('the address that begins a sign-in at the issuer', () => {
  it('holds state, nonce and the challenge, and asks for a proof of at most this age', async () => {
    const request = { ...begun, isFresh: false, maxAgeSeconds: 43_200 };
    const url = new URL(await provider().authorizationUrl(request));
    expect(url.origin + url.pathname).toBe(`${issuer.url}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'portal',
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email',
      state: 'state',
      nonce: 'nonce',
      code_challenge: challengeOf(secrets.codeVerifier),
      code_challenge_method: 'S256',
      max_age: '43200',
    });
  });

  it('asks for a new proof when the sign-in has to be fresh', async () => {
    const url = new URL(
      await provider().authorizationUrl({ ...begun, isFresh: true, maxAgeSeconds: 43_200 }),
    );
    expect([url.searchParams.get('prompt'), url.searchParams.get('max_age')]).toEqual(['login', '0']);
  });

  it('asks an issuer that does not know that prompt to let the person choose the account again', () => {
    expect(freshPrompt({ issuer: 'https://accounts.google.com' })).toBe('select_account');
    expect(freshPrompt({ issuer: 'https://issuer.test', prompt_values_supported: ['none'] })).toBe(
      'select_account',
    );
    expect(freshPrompt({ issuer: 'https://issuer.test', prompt_values_supported: ['login'] })).toBe('login');
  });

  it('never leads to an address without TLS, except on this machine', async () => {
    issuer.description = { authorization_endpoint: 'http://issuer.test/authorize' };
    const request = { ...begun, isFresh: false, maxAgeSeconds: 1 };
    await expect(provider().authorizationUrl(request)).rejects.toThrow(IssuerUnavailable);
    await expect(provider({ url: 'http://issuer.test' }).authorizationUrl(request)).rejects.toThrow(
      IssuerUnavailable,
    );
  });
});

describe('the callback of the issuer', () => {
  it('redeems the code with the verifier and the secret, and returns the claims', async () => {
    issuer.claims = { email: 'a@acme.test', email_verified: true, auth_time: 1_700_000_000 };
    expect(await provider().redeem(callback(), begun)).toEqual({
      issuer: issuer.url,
      subject: 'u1',
      email: 'a@acme.test',
      emailVerified: true,
      authTime: 1_700_000_000,
    });
    expect(Object.fromEntries(issuer.redeemed[0] ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: 'code',
      code_verifier: secrets.codeVerifier,
      redirect_uri: redirectUri,
    });
  });

  it('sends the secret in the body to an issuer that takes it only there', async () => {
    issuer.description = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    await provider().redeem(callback(), begun);
    expect(issuer.redeemed[0]?.get('client_secret')).toBe('s:/ecret');
  });

  it.each([
    ['another state', { state: 'other' }],
    ['no state', { state: undefined }],
    ['the name of another issuer', { iss: 'https://other.test' }],
    ['no name of the issuer, though the issuer always sends it', { iss: undefined }],
  ])('refuses a callback with %s, and asks the issuer nothing', async (_what, change) => {
    await expect(provider().redeem(callback(change), begun)).rejects.toThrow(SignInRefused);
    expect(issuer.redeemed).toEqual([]);
  });

  it('refuses a callback whose state stands in it twice', async () => {
    const url = callback();
    url.searchParams.append('state', 'state');
    await expect(provider().redeem(url, begun)).rejects.toThrow(SignInRefused);
  });

  it.each([
    ['another nonce', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['another issuer', { iss: 'https://other.test' }],
    ['another audience', { aud: 'somebody' }],
    ['a past end', { exp: 1 }],
  ])('refuses an ID token with %s', async (_what, claims) => {
    issuer.claims = claims;
    await expect(provider().redeem(callback(), begun)).rejects.toThrow(SignInRefused);
  });

  it('refuses an ID token that the issuer did not sign', async () => {
    issuer.hasForeignKey = true;
    await expect(provider().redeem(callback(), begun)).rejects.toThrow(SignInRefused);
  });

  it('distinguishes a person who stopped from a refusal', async () => {
    const stopped = callback({ code: undefined, error: 'access_denied' });
    await expect(provider().redeem(stopped, begun)).rejects.toThrow(SignInCancelled);
    const refused = callback({ code: undefined, error: 'server_error' });
    await expect(provider().redeem(refused, begun)).rejects.toThrow(SignInRefused);
  });

  it('believes only true and "true" of a verified address', async () => {
    for (const [stated, isVerified] of [
      ['true', true],
      ['yes', false],
      [1, false],
      [undefined, false],
    ] as const) {
      issuer.claims = { email: 'a@acme.test', email_verified: stated };
      expect((await provider().redeem(callback(), begun)).emailVerified).toBe(isVerified);
    }
  });
});

describe('a rude issuer', () => {
  const paths = ['/.well-known/openid-configuration', '/token', '/keys'];
  it.each(paths.flatMap((path) => Object.keys(rude).map((how) => [path, how as keyof typeof rude] as const)))(
    'whose %s %s is unavailable, and nobody waits for it',
    async (path, how) => {
      issuer.answers = { [path]: rude[how] };
      await expect(provider({ millis: 300 }).redeem(callback(), begun)).rejects.toThrow(IssuerUnavailable);
    },
  );

  it('is asked again after a failure, and described only once after a success', async () => {
    const openid = provider();
    issuer.answers = { '/.well-known/openid-configuration': rude['answers 500'] };
    await expect(openid.endSessionUrl('https://portal.test/')).rejects.toThrow(IssuerUnavailable);
    issuer.answers = {};
    expect(await openid.endSessionUrl('https://portal.test/')).toBeUndefined();
    await openid.redeem(callback(), begun);
    await openid.redeem(callback(), begun);
    expect(issuer.asked.filter((path) => path.startsWith('/.well-known'))).toHaveLength(2);
    expect(issuer.asked.filter((path) => path === '/keys')).toHaveLength(1);
  });

  it('is left at its own sign-out, with the way back', async () => {
    issuer.description = { end_session_endpoint: `${issuer.url}/logout` };
    expect(await provider().endSessionUrl('https://portal.test/')).toBe(
      `${issuer.url}/logout?client_id=portal&post_logout_redirect_uri=https%3A%2F%2Fportal.test%2F&logout_uri=https%3A%2F%2Fportal.test%2F`,
    );
  });
});

type Which = { readonly VersionId?: string; readonly VersionStage?: string };

/** A secret with its versions, the newest first, and a box of each function that reads it. */
function stage() {
  const clock = fakeClock();
  const versions = ['version-1'];
  const asked: Which[] = [];
  const send = ({ input: { VersionId, VersionStage } }: { readonly input: Which }): Promise<object> => {
    asked.push({
      ...(VersionId !== undefined && { VersionId }),
      ...(VersionStage !== undefined && { VersionStage }),
    });
    const found = VersionStage === 'AWSPREVIOUS' ? versions[1] : (VersionId ?? versions[0]);
    if (found === undefined || !versions.includes(found))
      return Promise.reject(Object.assign(new Error('no'), { name: 'ResourceNotFoundException' }));
    return Promise.resolve({ VersionId: found, SecretString: found.padEnd(32, '-') });
  };
  const client = stub<SecretsManagerClient>({ send: send as never });
  return {
    clock,
    asked,
    newBox: () => createLoginBox({ client, secretArn: 'arn', clock, randomBytes: seededBytes }),
    rotate: () => void versions.unshift(`version-${versions.length + 1}`),
    pass: (millis: number) => clock.set(clock.now() + millis),
  };
}

const forged = (version: string): string => `v1.${version}.${'A'.repeat(16)}.${'A'.repeat(60)}`;

describe('the cookie of a sign-in', () => {
  it('A hundred forged cookies, each with a version of its own, cost two calls of Secrets Manager', async () => {
    const { newBox, asked } = stage();
    const box = newBox();
    for (let one = 0; one < 100; one += 1)
      expect(
        await box.open(forged(`11111111-1111-4111-8111-${String(one).padStart(12, '0')}`)),
      ).toBeUndefined();
    expect(asked).toEqual([{}, { VersionStage: 'AWSPREVIOUS' }]);
  });

  it('Ten minutes of forged cookies cost at most two calls of Secrets Manager a minute', async () => {
    const { newBox, asked, pass } = stage();
    const box = newBox();
    for (let second = 0; second < 600; second += 1) {
      await box.open(forged(`version-of-${second}`));
      pass(1_000);
    }
    expect(asked.length).toBeLessThanOrEqual(20);
  });

  it.each([
    '',
    'nonsense',
    'v1..AAAA.AAAA',
    `v2.version-1.${'A'.repeat(16)}.${'A'.repeat(60)}`,
    forged('../x'),
  ])('The forged cookie %j, whose form is wrong, costs no call', async (cookie) => {
    const { newBox, asked } = stage();
    expect(await newBox().open(cookie)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('A cookie opens after a rotation of the secret, also in a function that reads the secret for the first time', async () => {
    const { newBox, rotate } = stage();
    const box = newBox();
    const cookie = await box.seal('begun');
    rotate();
    expect(await box.open(cookie)).toBe('begun');
    expect(await newBox().open(cookie)).toBe('begun');
  });

  it('A cookie that another function sealed after a rotation opens while this function still holds the old secret', async () => {
    const { newBox, rotate, pass } = stage();
    const box = newBox();
    await box.seal('begun');
    rotate();
    pass(60_000);
    expect(await box.open(await newBox().seal('begun'))).toBe('begun');
  });

  it('A cookie from before the last two rotations opens no more', async () => {
    const { newBox, rotate } = stage();
    const cookie = await newBox().seal('begun');
    rotate();
    rotate();
    expect(await newBox().open(cookie)).toBeUndefined();
  });
});
