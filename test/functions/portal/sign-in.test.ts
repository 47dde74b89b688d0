import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountId } from '../../fixtures/records.ts';
import { invite } from '../../fixtures/portal.ts';
import { startPortal, type PortalStage } from './portal-fixture.ts';

let stage: PortalStage;
beforeAll(async () => {
  stage = await startPortal();
});
afterAll(() => stage.end());

describe('a sign-in', () => {
  it('ends at the page it was begun for, with a session in the account of the invitation', async () => {
    await invite(stage.people, accountId, 'Owner@Acme.test', 'owner');
    const browser = stage.browser();
    const landed = await browser.signIn('owner@acme.test', { returnTo: '/portal/keys?new=1' });
    expect(`${landed.pathname}${landed.search}`).toBe('/portal/keys?new=1');
    expect(await browser.send('GET', '/keys')).toMatchObject({ status: 200, body: { ok: true } });
    const [member] = await stage.people.listMembers(accountId);
    expect(member).toMatchObject({ email: 'owner@acme.test', role: 'owner' });
    expect(await stage.people.listInvitations(accountId)).toEqual([]);
  });
});
