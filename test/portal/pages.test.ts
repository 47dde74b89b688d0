/** What the pages of an account read: home, account, keys and people. */
import { describe, expect, it } from 'vitest';
import { apiKeyToItem } from '../../service/accounts/account-items.ts';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { playgroundKey } from '../../service/accounts/key-changes.ts';
import { keyVersion } from '../../service/accounts/version.ts';
import type * as views from '../../service/contract/portal-views.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import { createActionLog } from '../../service/operated/action-store.ts';
import { createPeopleStore } from '../../service/portal/people-store.ts';
import { invitationIdOf } from '../../service/portal/people.ts';
import { getAccount, getMe, listActions, listKeys, listPeople } from '../../service/portal/read/account.ts';
import { listPortalModels } from '../../service/portal/read/creations.ts';
import { getHome } from '../../service/portal/read/home.ts';
import { getAlerts } from '../../service/portal/read/webhooks.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { nilId } from '../../service/webhooks/samples.ts';
import { accountId, anAccount, anApiKey, keyId, now } from '../fixtures/records.ts';
import { orderOf } from '../tables/facts.ts';
import { problemOf } from './portal-fixture.ts';
import { ask, bodyOf, idAt, log, openBeforeEach, personId, stored, table } from './read-fixture.ts';

openBeforeEach();

describe('home', () => {
  it('A new account has no step done', async () => {
    const { steps, failing_webhooks: failing, creations } = (await bodyOf(getHome)) as views.HomeView;
    expect(steps).toEqual({
      has_key: true,
      has_creation: false,
      has_webhook_secret: false,
      has_delivery: false,
    });
    expect([failing, creations]).toEqual([0, []]);
  });

  it('It has the wallet, the spend of all keys, the newest creations and the keys near a cap', async () => {
    await stored(apiKeyToItem({ ...playgroundKey(anAccount(), now), spent: { '2026_11': asMicros(5) } }));
    await createAccountStore(table).changeKey(accountId, keyId, { dailyCapMicros: asMicros(50_000) });
    const apiKey = anApiKey({ dailyCapMicros: asMicros(50_000) });
    await createChargeStore(table).charge(orderOf(1, { apiKey }));
    const home = (await bodyOf(getHome)) as views.HomeView;
    expect(home).toMatchObject({ available: 24.96, balance: 24.96, credit_line: 0, in_flight: 1 });
    expect(home).toMatchObject({ spent_today: 0.04, spent_this_month: 0.040005 });
    expect(home.creations).toMatchObject([{ status: 'queued', key: { id: keyId, name: 'server' } }]);
    expect(home.keys_near_cap).toMatchObject([{ id: keyId, daily_cap: 0.05 }]);
  });

  it('A webhook is failing while another attempt follows, and has failed after its last one; a test never does', async () => {
    const at = (secondsAgo: number): string => new Date(now - secondsAgo * 1000).toISOString();
    const of = (number: number): { creationId: CreationId } => ({
      creationId: idAt(now - 80_000, number) as CreationId,
    });
    const refused = { outcome: 'failed', status: 500, nextAttemptAt: at(-60) } as const;
    await log({ ...refused, startedAt: at(300), ...of(1) });
    await log({ ...refused, startedAt: at(200), ...of(1), attempt: 2 });
    await log({ ...refused, startedAt: at(190), ...of(2) });
    await log({ outcome: 'delivered', status: 200, startedAt: at(100), ...of(2), attempt: 2 });
    await log({ startedAt: at(2), ...of(3) });
    await log({ startedAt: at(3), ...of(4), attempt: 3 });
    await log({ outcome: 'failed', status: 500, startedAt: at(50), ...of(5), attempt: 5 });
    await log({ outcome: 'failed', status: 500, startedAt: at(90), creationId: nilId });
    await log({ outcome: 'failed', status: 500, startedAt: at(90_000), ...of(6) });
    const home = (await bodyOf(getHome)) as views.HomeView;
    expect([home.failing_webhooks, home.failed_webhooks, home.steps.has_delivery]).toEqual([2, 1, true]);
  });
});

describe('account, models, alerts and the person', () => {
  it('The account has its limits, and how busy the service is', async () => {
    await stored({ pk: 'SERVICE', sk: 'SERVICE', openCreations: 7 });
    const view = (await bodyOf(getAccount)) as views.AccountView;
    expect(view).toMatchObject({
      id: accountId,
      limits: { post_rate: 60 },
      service: { open_creations: 7, capacity: 2_000 },
    });
    expect(view.models.map(({ id }) => id)).toContain('sandbox-sketch');
  });

  it('Only models that an enabled provider renders are offered, without a provider’s name', async () => {
    const without = (await bodyOf(listPortalModels)) as { data: views.ModelView[] };
    await stored({ pk: 'SERVICE', sk: 'SERVICE', enabledProviders: new Set(['openai']) });
    const account = anAccount({ policy: { providers: 'all', hiddenModels: ['sandbox-sketch'] } });
    const { data } = (await bodyOf(listPortalModels, { account })) as { data: views.ModelView[] };
    const ids = data.map(({ id }) => id);
    expect(without.data.every(({ id }) => id.startsWith('sandbox'))).toBe(true);
    expect([ids.includes('gpt-image-2'), ids.includes('sandbox-sketch')]).toEqual([true, false]);
    expect(data.find(({ id }) => id === 'gpt-image-2')).toMatchObject({
      takes_seed: false,
      takes_negative_prompt: false,
      takes_quality: true,
      qualities: ['low', 'medium', 'high'],
    });
    expect(data.find(({ id }) => id === 'sandbox-standard')).toMatchObject({
      takes_seed: true,
      takes_negative_prompt: true,
      prices: { '1K': 0.04 },
    });
    expect(JSON.stringify(data)).not.toMatch(/"provider|"routes/);
  });

  it('Alerts have a version that goes back with a change', async () => {
    const account = anAccount({ noticeUrl: 'https://a.test/', lowBalanceMicros: asMicros(5_000_000) });
    const view = (await bodyOf(getAlerts, { account })) as views.AlertsView;
    expect(view).toMatchObject({ notice_url: 'https://a.test/', low_balance: 5 });
    expect((await bodyOf(getAlerts)) as views.AlertsView).toMatchObject({
      notice_url: null,
      low_balance: null,
    });
  });

  it('A person who is signed in sees their accounts, and until when the sign-in is fresh', async () => {
    const people = createPeopleStore(table);
    const invitation = {
      ...{ id: invitationIdOf('a@b.test'), accountId, email: 'a@b.test', role: 'owner' as const },
      ...{ invitedAt: new Date(now).toISOString(), invitedBy: 'operator', expiresAt: now + 1_000 },
    };
    await people.invite(invitation);
    const identity = { id: personId, issuer: 'i', subject: 's', email: 'a@b.test' };
    await people.accept(invitation, identity, new Date(now).toISOString());
    expect((await bodyOf(getMe as never)) as views.MeView).toMatchObject({
      account: { id: accountId, role: 'owner', condition: 'active' },
      accounts: [{ id: accountId, name: 'Studio', role: 'owner' }],
      is_operator: false,
      fresh_until: new Date(now - 60_000 + 15 * 60_000).toISOString(),
      service: { payment_url: 'https://pay.test/', contact: null },
    });
  });
});

describe('keys', () => {
  it('The key of the playground is not listed, and no hash is shown', async () => {
    await stored(apiKeyToItem(playgroundKey(anAccount(), now)));
    const { data } = (await bodyOf(listKeys)) as { data: views.KeyView[] };
    expect(data).toMatchObject([
      { id: keyId, prefix: `dk_live_${accountId}${keyId}`, last4: null, version: keyVersion(anApiKey()) },
    ]);
    expect(JSON.stringify(data)).not.toContain(anApiKey().hash);
  });
});

describe('people and what they did', () => {
  it('Invitations are listed, and those of the operator are not of an account', async () => {
    const invitation = {
      ...{ id: invitationIdOf('new@b.test'), accountId, email: 'new@b.test', role: 'viewer' as const },
      ...{ invitedAt: new Date(now).toISOString(), invitedBy: 'operator', expiresAt: now + 1_000 },
    };
    await createPeopleStore(table).invite(invitation);
    expect((await bodyOf(listPeople)) as views.PeopleView).toMatchObject({
      people: [],
      invitations: [{ email: 'new@b.test', role: 'viewer', expires_at: new Date(now + 1_000).toISOString() }],
    });
  });

  it('Actions are the newest first, in pages', async () => {
    const log = createActionLog(table);
    for (const second of [1, 2, 3]) {
      const at = new Date(now + second * 1_000).toISOString();
      const action = {
        scope: accountId,
        id: `${at}#abcdefgh`,
        at,
        personId,
        email: 'a@b.test',
        action: 'createKey',
      };
      await log.begin({ ...action, outcome: 'begun' });
    }
    const list = (query: Record<string, string>) =>
      bodyOf(listActions, { query }) as Promise<views.PageView<views.ActionView>>;
    const first = await list({ limit: '2' });
    const rest = await list({ limit: '2', cursor: first.next_cursor ?? '' });
    expect([...first.data, ...rest.data].map(({ at }) => Date.parse(at) - now)).toEqual([
      3_000, 2_000, 1_000,
    ]);
    expect(first.data[0]).toMatchObject({ outcome: 'begun', target: null, note: null });
    expect(await problemOf(ask(listActions, { table }, { query: { cursor: 'KEY#1' } }))).toMatchObject({
      status: 400,
    });
  });
});
