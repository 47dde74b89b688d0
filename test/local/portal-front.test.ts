/** The portal of one machine, through the stand-in of its distribution, and with the real bundles. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withinOneMinute } from '../whole/refusal.ts';
import { inviteDemoPerson, knownAddresses } from '../../start/demo-account.ts';
import { openBrowser } from '../fixtures/portal.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';

let service: TestService;
let portal = '';
beforeAll(async () => {
  service = await startTestService();
  portal = service.machine.portalUrl;
});
afterAll(async () => service.end());

const page = async (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${portal}${path}`, { redirect: 'manual', ...init });

describe('the pages of one machine', () => {
  it('A path of the app leads to its page, which knows its path and is never cached', async () => {
    for (const path of ['', 'wallet', 'creations/01890a5d-ac96-774b-bcce-b302099a8057']) {
      const answer = await page(path);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-cache']);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const text = await answer.text();
      expect(text).toContain('/portal/');
      expect(text).not.toContain('{base}');
    }
  });

  it('A script has a name of its content, and a browser keeps it', async () => {
    const [, script = ''] =
      /src="\/portal\/(app-[0-9a-f]{10}\.js)"/.exec(await (await page('')).text()) ?? [];
    const answer = await page(script);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('A missing file, and a method that changes something, are refused as S3 refuses them', async () => {
    expect((await page('nothing.js')).status).toBe(403);
    expect((await page('%zz.js')).status).toBe(403);
    expect((await page('wallet', { method: 'POST', body: 'x' })).status).toBe(403);
    expect((await page('../portal')).headers.get('location')).toBe('/portal/');
  });

  it('The policy of a page names the images and the uploads of this machine', async () => {
    const policy = (await page('')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain(
      `connect-src 'self' ${new URL(portal).origin}/_results ${service.machine.awsUrl};`,
    );
    expect(policy).toContain(`img-src 'self' ${new URL(portal).origin}/_results blob: data:;`);
    expect(policy).not.toMatch(/cloudfront\.net|amazonaws\.com/);
  });

  it('The reference page has its own policy, and its document names this API', async () => {
    const answer = await page('reference');
    expect(answer.headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline'");
    expect(await answer.text()).toContain('data-document="/portal/openapi.json"');
    const document = (await (await page('openapi.json')).json()) as { servers: unknown; openapi: string };
    expect(document.openapi).toBe('3.1.1');
    expect(document.servers).toEqual([{ url: service.machine.apiUrl, description: 'This service' }]);
    const ofOperator = await page('reference/operator');
    expect(ofOperator.headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline'");
    expect(await ofOperator.text()).toContain('data-document="/portal/operator-openapi.json"');
    const { servers } = (await (await page('operator-openapi.json')).json()) as {
      servers: readonly { readonly url: string }[];
    };
    expect(servers[0]?.url).toBe(`${new URL(service.machine.apiUrl).origin}/api/operator/v1`);
  });
});

describe('the API behind the distribution of one machine', () => {
  it('The functions get the address of the connection and the secret of the template, whatever a viewer sends', async () => {
    const browser = openBrowser(portal);
    await browser.signIn('owner@demo.test');
    const forged = {
      'x-origin-secret': 'guessed',
      'cloudfront-viewer-address': '203.0.113.9:1',
      'x-forwarded-for': '203.0.113.9',
    };
    expect((await browser.send('GET', '/me', undefined, forged)).status).toBe(200);
    // A forged address would be counted instead of the real one.
    const guess = async (headers?: Readonly<Record<string, string>>): Promise<number> => {
      // The answer removes a wrong cookie, so each guess sends it again.
      const stranger = openBrowser(portal);
      for (const [name, value] of browser.cookies)
        stranger.cookies.set(name, value.replace(/^[\w-]{43}\./, `${'A'.repeat(43)}.`));
      return (await stranger.send('GET', '/me', undefined, headers)).status;
    };
    withinOneMinute(service);
    const statuses: number[] = [];
    for (let count = 0; count < 21; count += 1) statuses.push(await guess(forged));
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(statuses.at(-1)).toBe(429);
    // The block is of the real address: without the forged header it is the same.
    expect(await guess()).toBe(429);
    await service.machine.advance(180);
  });

  it('What the portal does not know is answered 404 by the portal, however often it is asked for', async () => {
    const ask = async (method: string, path: string): Promise<unknown> => {
      const answer = await fetch(new URL(path, portal), { method });
      return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
    };
    const notFound = [404, 'The portal has no such operation.'];
    for (let count = 0; count < 22; count += 1)
      expect(await ask('GET', '/api/portal/v1/nothing')).toEqual(notFound);
    expect(await ask('POST', '/api/portal/v1/me')).toEqual(notFound);
    expect(await ask('GET', '/auth/logout')).toEqual(notFound);
  });

  it('The answers of the API have the headers of the distribution, and no cache keeps them', async () => {
    const answer = await openBrowser(portal).send('GET', '/me');
    expect(answer.status).toBe(401);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
    });
  });
});

describe('the demo person', () => {
  it('The demo person is the owner of the demo account and a person of the operator', async () => {
    const browser = openBrowser(portal);
    await browser.signIn('owner@demo.test');
    const answer = await browser.send('GET', '/me');
    expect(answer.body).toMatchObject({
      person: { email: 'owner@demo.test' },
      account: { id: service.demo.accountId, role: 'owner' },
      is_operator: true,
    });
  });

  it('Another start invites the demo person once only, and the issuer offers each address once', async () => {
    const issuer = `${service.machine.localUrl}/issuer`;
    await inviteDemoPerson(service.demo.accountId, issuer, service.operator);
    await inviteDemoPerson(service.demo.accountId, issuer, service.operator);
    expect(await knownAddresses(service.operator)).toEqual(['owner@demo.test']);
  });
});
