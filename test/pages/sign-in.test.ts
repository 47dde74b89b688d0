/** The sign-in through the whole service: its distribution, its functions, its issuer and its clock. */
import { afterAll, describe, expect, it } from 'vitest';
import { demoEmail } from '../../start/demo-account.ts';
import { portalOf } from '../fixtures/portal.ts';
import { sharedTestService } from '../fixtures/service.ts';

const service = await sharedTestService();
const portal = portalOf(service);
afterAll(() => service.end());

describe('the person of the demo account', () => {
  it('signs in by one press of a button of the issuer, and is an owner and an operator', async () => {
    const browser = portal.open();
    const login = await browser.visit(new URL('/auth/login', service.machine.portalUrl));
    let at = new URL(login.headers.get('location') ?? '');
    let page = await browser.visit(at);
    while (page.status === 303) {
      at = new URL(page.headers.get('location') ?? '', at);
      page = await browser.visit(at);
    }
    expect(await page.text()).toContain(
      `<button name="email" value="${demoEmail}">Sign in as ${demoEmail}</button>`,
    );
    const owner = await portal.signIn(demoEmail);
    expect((await owner.send('GET', '/me')).body).toMatchObject({
      person: { email: demoEmail },
      account: { id: service.demo.accountId, role: 'owner', condition: 'active' },
      is_operator: true,
    });
  });
});

describe('a person', () => {
  it('signs in afresh also when the clock of the service is ahead', async () => {
    const { account } = await service.client();
    const browser = await portal.join(account.id, 'ahead@acme.test', 'owner');
    service.jump(16 * 60);
    const invite = { email: 'next@acme.test', role: 'viewer' };
    expect((await browser.send('POST', '/people', invite)).body).toMatchObject({
      error: { details: { reason: 'reauthenticate' } },
    });
    expect((await browser.signIn('ahead@acme.test', { isFresh: true })).search).toBe('');
    expect((await browser.send('POST', '/people', invite)).status).toBe(201);
  });

  it('leaves no cookie in a log', async () => {
    const { account } = await service.client();
    const browser = await portal.join(account.id, 'quiet@acme.test', 'viewer');
    await browser.send('GET', '/home');
    const [token = ''] =
      [...browser.cookies.values()].find((value) => value.includes(account.id))?.split('.') ?? [];
    expect(token).toHaveLength(43);
    expect(service.log.join('\n')).toContain('signed_in');
    expect(service.log.join('\n')).not.toContain(token);
  });
});
