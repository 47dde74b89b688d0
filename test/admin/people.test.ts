/** The commands `people` and `portal` against the whole service. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { newKey } from '../../service/accounts/key-changes.ts';
import { invitationIdOf, personIdOf } from '../../service/portal/people.ts';
import type { VerifiedIdentity } from '../../service/portal/people-store.ts';
import { openBrowser } from '../fixtures/portal.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();
const account = (): string => operated.client.account.id;

/** Takes up the invitation of an address, as a sign-in does. */
async function join(email: string, scope: 'account' | 'SERVICE' = 'account'): Promise<VerifiedIdentity> {
  const { people, clock } = operated.service.operator;
  const id = scope === 'SERVICE' ? scope : operated.client.account.id;
  const issuer = 'https://issuer.test';
  const person = { id: personIdOf(issuer, email), issuer, subject: email, email };
  const invitation = (await people.listInvitations(id)).find((one) => one.email === email);
  if (!invitation) throw new Error(`${email} is not invited`);
  expect(await people.accept(invitation, person, new Date(clock.now()).toISOString())).toBe(true);
  return person;
}

describe('people', () => {
  it('are invited, listed, given another role, signed out and removed', async () => {
    const options = ['--email', ' A@Acme.test', '--role', 'owner'];
    const invited = await operated.run('people', 'invite', account(), ...options);
    expect(invited).toMatchObject({
      email: 'a@acme.test',
      role: 'owner',
      portal: operated.service.machine.portalUrl,
      mail: 'none',
    });
    await operated.run('people', 'invite', account(), '--email', 'b@acme.test', '--role', 'viewer');
    const a = await join('a@acme.test');
    expect(await operated.run('people', 'list', account())).toMatchObject({
      data: [
        { person: a.id, email: 'a@acme.test', role: 'owner', last_sign_in: null, invitation: null },
        { person: null, email: 'b@acme.test', role: 'viewer', invitation: 'open' },
      ],
    });
    await join('b@acme.test');
    await operated.run('people', 'role', account(), 'B@acme.test', '--role', 'developer');
    await operated.run('people', 'end-sessions', account(), a.id);
    const members = await operated.service.operator.people.listMembers(operated.client.account.id);
    expect(members.map(({ email, role }) => [email, role])).toEqual([
      ['a@acme.test', 'owner'],
      ['b@acme.test', 'developer'],
    ]);
    expect(members[0]?.sessionsEndedAt).toBeGreaterThan(0);
    expect(await operated.run('people', 'remove', account(), 'b@acme.test')).toMatchObject({
      removed: 'person',
    });
    await operated.run('people', 'invite', account(), '--email', 'c@acme.test', '--role', 'viewer');
    expect(await operated.run('people', 'remove', account(), 'c@acme.test')).toMatchObject({
      removed: 'invitation',
    });
    expect(await operated.run('people', 'list', account())).toMatchObject({ data: [{ person: a.id }] });
  });

  it('of the operator are invited and removed beside the accounts', async () => {
    await operated.run('people', 'invite', '--operator', '--email', 'op@host.test');
    const operator = await join('op@host.test', 'SERVICE');
    const isListed = async (): Promise<boolean> =>
      JSON.stringify(await operated.run('people', 'list', '--operator')).includes(operator.id);
    expect(await isListed()).toBe(true);
    await operated.run('people', 'end-sessions', '--operator', 'op@host.test');
    await operated.run('people', 'remove', '--operator', 'op@host.test');
    expect(await isListed()).toBe(false);
  });

  it('are refused beyond twenty invitations of a day, and keys beyond a hundred, in sentences that say what helps', async () => {
    const { people, clock, accounts, randomBytes } = operated.service.operator;
    const { id } = operated.client.account;
    for (let one = 0; one < 20; one += 1) {
      const email = `person-${one}@acme.test`;
      const invitedAt = new Date(clock.now()).toISOString();
      const who = { id: invitationIdOf(email), email, role: 'viewer', accountId: id } as const;
      const expiresAt = clock.now() + (one === 0 ? -1 : 60_000);
      await people.invite({ ...who, invitedAt, invitedBy: 'operator', expiresAt }, Infinity);
    }
    const more = ['--email', 'more@acme.test', '--role', 'viewer'];
    expect(await operated.refused('people', 'invite', account(), ...more)).toBe(
      'At most 20 invitations may be sent today, and 20 were. Invite again after midnight UTC.',
    );
    for (let left = 99; left > 0; left -= 1)
      await accounts.createKey(newKey(id, { name: 'server' }, { clock, randomBytes }).record);
    expect(await operated.refused('keys', 'create', account(), '--name', 'one more')).toBe(
      `An account may have 100 keys that work. Revoke one that nobody uses. \`keys list ${account()}\` shows them.`,
    );
  });

  it('are refused in one sentence', async () => {
    await operated.run('people', 'invite', account(), '--email', 'a@acme.test', '--role', 'owner');
    await join('a@acme.test');
    const email = ['--email', 'a@acme.test'];
    const refusals: [string[], string | RegExp][] = [
      [
        ['invite', account(), '--email', 'nobody', '--role', 'owner'],
        '--email: "nobody" is no address, such as owner@example.com.',
      ],
      [['invite', account(), ...email], '--role: must be one of finance, viewer, developer, owner.'],
      [['invite', account(), ...email, '--role', 'owner'], /^a@acme.test is here already/],
      [['invite', ...email, '--role', 'owner'], 'Name an account, or --operator.'],
      [['invite', account(), '--operator', ...email], 'Name an account or --operator, not both.'],
      [['invite', '--operator', '--email', 'x@y.test', '--role', 'owner'], /^--role: people of the operator/],
      [['remove', account(), 'a@acme.test'], /^An account keeps an owner/],
      [['role', account(), 'a@acme.test', '--role', 'viewer'], /^An account keeps an owner/],
      [['remove', account(), 'x@acme.test'], /^There is no "x@acme.test" here/],
      [['end-sessions', account()], 'Name a person: `people list` shows them.'],
    ];
    for (const [args, message] of refusals)
      expect(await operated.refused('people', ...args)).toEqual(
        typeof message === 'string' ? message : expect.stringMatching(message),
      );
  });
});

it('The portal stays open while its origin secret is replaced, and a second value waits for the deployment of the first', async () => {
  const { machine } = operated.service;
  const status = async (): Promise<number> =>
    (await openBrowser(machine.portalUrl).send('GET', '/me')).status;
  // A visitor without a session is answered 401. The functions answer 403 to another distribution.
  expect(await status()).toBe(401);
  const first = await operated.run('portal', 'rotate-origin-secret');
  expect(first).toMatchObject({ rotated: true, version: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  // The functions keep the values for five minutes.
  await machine.advance(301);
  expect(await status()).toBe(401);
  expect(await operated.run('portal', 'rotate-origin-secret')).toMatchObject({
    rotated: false,
    version: first['version'],
  });
  await machine.advance(301);
  expect(await status()).toBe(401);
  const { out } = await operated.admin('portal', 'rotate-origin-secret');
  expect(out).toContain('No new value was put: the newest one is not deployed yet.');
  expect(out).toContain(`Set portal.originSecretVersion to '${String(first['version'])}'`);
});

it('the client secret of the portal is replaced', async () => {
  const { machine, operator } = operated.service;
  const client = new SecretsManagerClient({
    endpoint: machine.awsUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
  const SecretId = machine.template.outputs['SignInSecretArn'];
  const before = (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '';
  await operator.setSignInSecret('another-secret');
  expect((await client.send(new GetSecretValueCommand({ SecretId }))).SecretString).toBe('another-secret');
  await operator.setSignInSecret(before);
});
