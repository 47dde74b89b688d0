import type { Row } from '../../client/command/terminal/output.ts';
import { type Role, roles } from '../../service/contract/operations.ts';
import { topicOf } from '../../service/notices/mail-readers.ts';
import { noRoomMessage } from '../../service/portal/invitation-room.ts';
import type { InvitationEmail, MemberChange } from '../../service/portal/people-store.ts';
import {
  invitationIdOf,
  isAddress,
  type Member,
  newInvitation,
  normalEmail,
  type Operator,
  type PeopleScope,
  personIdOf,
} from '../../service/portal/people.ts';
import { createLinkStore, linkIssuer, linkMinutes } from '../link-store.ts';
import { noted } from '../erase/note.ts';
import { erasePerson } from '../erase/person.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

interface ScopeOptions {
  readonly operator?: boolean;
}

/** `[account] [person]`, or the person alone with --operator. */
type PersonArguments = [first: string | undefined, second: string | undefined, options: ScopeOptions];

const ofOperator = 'the people of the operator, in the place of an account';
const personMeans = 'PERSON is an id of `people list`, or an address.';

export function addPeopleCommands(program: OperatorCommand): void {
  const people = program.task('people', 'who signs in to the portal, in which account and role');
  people
    .task('invite [account]', 'invite an address: its first sign-in within 14 days joins the account')
    .requiredOption('--email <address>', 'whom to invite')
    .option('--role <role>', `${roles.join(', ')}; an account begins with an owner`)
    .option('--operator', ofOperator)
    .run(async ({ services, output, tell }, id: string | undefined, options: InviteOptions) =>
      output.show(await invite(services, await scopeOf(services, id, options), options, tell)),
    );
  people
    .task(
      'link <email>',
      `a link that signs the person in once, for ${linkMinutes} minutes, at \`darkroom serve\``,
    )
    .run(async ({ services, output }, email: string) => output.show(await link(services, email)));
  people
    .task('list [account]', 'members and open invitations')
    .option('--operator', ofOperator)
    .run(async ({ services, output }, id: string | undefined, options: ScopeOptions) =>
      output.list(
        await listed(services, await scopeOf(services, id, options)),
        'Nobody: `people invite` invites the first person.',
      ),
    );
  people
    .task('role <account> <person>', `change what a member may do. ${personMeans}`)
    .requiredOption('--role <role>', roles.join(', '))
    .run(async ({ services, output }, id: string, person: string, options: { role: string }) => {
      const { id: account } = await values.account(services, id);
      const member = await memberOf(services, account, person);
      const role = values.oneOf('--role', options.role, roles);
      // Only developers have a limit for keys.
      const { keyCapMicros } = role === 'developer' ? member : {};
      check(await services.people.changeMember(member, { role, ...(keyCapMicros && { keyCapMicros }) }));
      output.show({ person: member.personId, email: member.email, role });
    });
  people
    .task(
      'remove [account] [person]',
      `remove a member, or an open invitation by its address. ${personMeans}`,
    )
    .option('--operator', ofOperator)
    .run(async ({ services, output }, ...asked: PersonArguments) => {
      const { scope, person } = await named(services, asked);
      output.show(await remove(services, scope, person));
    });
  people
    .task(
      'end-sessions [account] [person]',
      `sign a person out everywhere, from the next request on. ${personMeans}`,
    )
    .option('--operator', ofOperator)
    .run(async ({ services, output }, ...asked: PersonArguments) => {
      const { scope, person } = await named(services, asked);
      const { personId, email } = await personOf(services, scope, person);
      await services.people.endSessions(scope, personId, services.clock.now());
      output.show({ person: personId, email, sessions: 'ended' });
    });
  addErase(people);
}

function addErase(people: OperatorCommand): void {
  people
    .task('erase <email>', 'erase a person everywhere: accounts, invitations, log of actions, user pool')
    .run(async ({ services, output }, text: string) => {
      const email = normalEmail(text);
      if (!isAddress(email)) throw new OperatorError(`${JSON.stringify(text)} is no address.`);
      output.show({
        ...(await noted('erasePerson', invitationIdOf(email), services, () => erasePerson(email, services))),
      });
    });
}

interface InviteOptions extends ScopeOptions {
  readonly email: string;
  readonly role?: string;
}

async function invite(
  services: OperatorServices,
  accountId: PeopleScope,
  { email: text, role: wanted }: InviteOptions,
  tell: (text: string) => void,
): Promise<Row> {
  const { people, registerUser, emailsADay, portalUrl, clock } = services;
  const email = normalEmail(text);
  if (!isAddress(email))
    throw new OperatorError(`--email: ${JSON.stringify(text)} is no address, such as owner@example.com.`);
  const role = accountId === 'SERVICE' ? 'operator' : values.oneOf('--role', wanted ?? '', roles);
  if (accountId === 'SERVICE' && wanted !== undefined)
    throw new OperatorError('--role: people of the operator have no role.');
  if ((await peopleOf(services, accountId)).some((one) => one.email === email))
    throw new OperatorError(`${email} is here already: \`people role\` changes a role.`);
  const invitation = newInvitation({ accountId, email, role, invitedBy: 'operator' }, clock.now());
  const room = await people.invite(invitation, emailsADay);
  if (room.kind !== 'room') throw new OperatorError(noRoomMessage(room));
  let sent: InvitationEmail = 'refused';
  try {
    sent = await registerUser(email);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell(`The invitation is stored, but no e-mail was sent: ${why}. Repeat the command later.`);
  }
  // A user pool writes to people without a password only, and another issuer to nobody: the operator passes the
  // address on.
  const portal = portalUrl === '' ? null : portalUrl;
  return { email, role, portal, mail: sent, expires_at: new Date(invitation.expiresAt).toISOString() };
}

/** Only for a service that has the door of the links. A test machine and a stack have other ways to sign in. */
async function link({ people, table, owned, clock }: OperatorServices, text: string): Promise<Row> {
  if (!owned) throw new OperatorError('Links sign people in only at a service that `darkroom serve` runs.');
  const email = normalEmail(text);
  const known = await people.findPerson(personIdOf(linkIssuer, email));
  if (!known && (await people.invitationsTo(invitationIdOf(email))).length === 0)
    throw new OperatorError(`Nobody has invited ${email}: \`people invite\` does.`);
  const token = await createLinkStore(table).make(email, clock.now());
  return { email, link: `${owned.linkUrl}#${token}`, minutes: linkMinutes };
}

async function listed(services: OperatorServices, scope: PeopleScope): Promise<Row[]> {
  const [members, invitations] = await Promise.all([
    peopleOf(services, scope),
    services.people.listInvitations(scope),
  ]);
  const nowMillis = services.clock.now();
  return [
    ...members.map(({ personId, email, role, since, lastSignInAt }) => ({
      person: personId,
      email,
      role: role ?? 'operator',
      since,
      last_sign_in: lastSignInAt ?? null,
      invitation: null,
    })),
    ...invitations.map(({ email, role, invitedAt, expiresAt }) => ({
      person: null,
      email,
      role,
      since: invitedAt,
      last_sign_in: null,
      invitation: expiresAt > nowMillis ? 'open' : 'expired',
    })),
  ];
}

async function remove(services: OperatorServices, scope: PeopleScope, text: string): Promise<Row> {
  const { people } = services;
  const found = await findPerson(services, scope, text);
  if (!found) {
    if (await people.withdraw(scope, invitationIdOf(text)))
      return { email: normalEmail(text), removed: 'invitation' };
    throw nobody(text);
  }
  if (scope === 'SERVICE') check(await people.removeOperator(found.personId));
  else {
    const member = await memberOf(services, scope, text);
    check(await people.removeMember(member));
    const topic = topicOf(scope, found.personId);
    if (member.mail)
      await services.removeTopic(topic).catch(() => {
        throw new OperatorError(
          `${found.email} is removed, and gets no more e-mails. SNS still has the topic that ends in ${topic}: delete the topic there.`,
        );
      });
  }
  return { person: found.personId, email: found.email, removed: 'person' };
}

/** Throws OperatorError when nothing was changed. */
function check(change: MemberChange): void {
  switch (change) {
    case 'changed':
      return;
    case 'gone':
      throw new OperatorError('The person was removed meanwhile.');
    case 'conflict':
      throw new OperatorError('Somebody changed the person meanwhile: look again.');
    case 'last_owner':
      throw new OperatorError(
        'An account keeps an owner: invite another one, or make somebody an owner, first.',
      );
  }
}

async function scopeOf(
  services: OperatorServices,
  id: string | undefined,
  options: ScopeOptions,
): Promise<PeopleScope> {
  if (options.operator === true) {
    if (id !== undefined) throw new OperatorError('Name an account or --operator, not both.');
    return 'SERVICE';
  }
  if (id === undefined) throw new OperatorError('Name an account, or --operator.');
  return (await values.account(services, id)).id;
}

/** With --operator the only argument is the person. */
async function named(
  services: OperatorServices,
  [first, second, options]: PersonArguments,
): Promise<{ readonly scope: PeopleScope; readonly person: string }> {
  const [id, person] =
    options.operator === true && second === undefined ? [undefined, first] : [first, second];
  const scope = await scopeOf(services, id, options);
  if (person === undefined) throw new OperatorError('Name a person: `people list` shows them.');
  return { scope, person };
}

type AnyMember = Operator & { readonly role?: Role };

async function peopleOf({ people }: OperatorServices, scope: PeopleScope): Promise<readonly AnyMember[]> {
  return scope === 'SERVICE' ? people.listOperators() : people.listMembers(scope);
}

async function findPerson(
  services: OperatorServices,
  scope: PeopleScope,
  text: string,
): Promise<AnyMember | undefined> {
  const all = await peopleOf(services, scope);
  return all.find(({ personId, email }) => personId === text || email === normalEmail(text));
}

async function personOf(services: OperatorServices, scope: PeopleScope, text: string): Promise<AnyMember> {
  const found = await findPerson(services, scope, text);
  if (!found) throw nobody(text);
  return found;
}

async function memberOf(
  services: OperatorServices,
  account: Member['accountId'],
  text: string,
): Promise<Member> {
  const { personId } = await personOf(services, account, text);
  const member = (await services.people.listMembers(account)).find((one) => one.personId === personId);
  if (!member) throw nobody(text);
  return member;
}

function nobody(text: string): OperatorError {
  return new OperatorError(`There is no ${JSON.stringify(text)} here: \`people list\` shows who is.`);
}
