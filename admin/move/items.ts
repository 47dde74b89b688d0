/** The items of a table that move to another service: which items, in which order, and how they change. */
import { createHash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invitationIdOf, invitationMillis } from '../../service/portal/people.ts';

/** An item in DynamoDB's own JSON. In a file, `B` holds base64. */
export type RawItem = Record<string, AttributeValue>;

/** The kind of an item: the beginning of its key, without ids. */
export function kindOf(item: RawItem): string {
  const [partition = ''] = textOf(item, 'pk').split('#');
  const [kind = ''] = textOf(item, 'sk').split('#');
  return ['ACCOUNT', 'CREATION', 'SERVICE'].includes(partition) ? kind : partition;
}

/** What serves only requests and runs that have ended, or has no use in another service. */
const staysHere: ReadonlySet<string> = new Set([
  'AUDIT',
  'CLOSING',
  'ERASE',
  'HELD',
  'IMPORT',
  'INVITATIONS_SENT',
  'IP',
  'LEASE',
  'LINK',
  'OPEN_COUNT',
  'POLL',
  'RATE',
  'SESSION',
  'TEST_DELIVERY',
]);

/** Counters that the reconciler of a service writes into the service item. */
const ownOfService = ['openCreations', 'openSum', 'startsHeld'];

/** The item as it goes into an export. Undefined: it stays, or its time to live is over. */
export function exported(item: RawItem, nowMillis: number): RawItem | undefined {
  const expires = item['expiresAtSeconds']?.N;
  if (staysHere.has(kindOf(item)) || (expires !== undefined && Number(expires) * 1000 <= nowMillis))
    return undefined;
  if (kindOf(item) !== 'SERVICE') return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !ownOfService.includes(name)));
}

/** Work that an execution or the reconciler still has to do: a creation, its webhook, or a notice. */
export function isOpenWork(item: RawItem): boolean {
  return item['openShard'] !== undefined;
}

const people: ReadonlySet<string> = new Set(['INVITATION', 'INVITED', 'MEMBER', 'PEOPLE', 'PERSON']);

/**
 * 'door': with it clients or people come in, so all other items are written before. 'service': the reconciler of the
 * new service changes it, too.
 */
export function roleOf(item: RawItem): 'door' | 'people' | 'service' | 'filling' | 'none' {
  const kind = kindOf(item);
  if (staysHere.has(kind)) return 'none';
  if (people.has(kind)) return 'people';
  return kind === 'ACCOUNT' || kind === 'OPERATOR_KEY' ? 'door' : kind === 'SERVICE' ? 'service' : 'filling';
}

/** The item for the new service: the addresses of images in the stored body of a webhook are those of the new one. */
export function moved(item: RawItem, from: string, to: string): RawItem {
  const webhook = item['webhook']?.M;
  const body = webhook?.['body']?.S;
  if (!webhook || body === undefined) return item;
  // The first list of this name is ours: texts of clients come behind it.
  const changed = body.replace(/"result_urls":\[[^\]]*\]/, (list) =>
    list.replaceAll(`"${from}/`, () => `"${to}/`),
  );
  return { ...item, webhook: { M: { ...webhook, body: { S: changed } } } };
}

/**
 * A person has the id of an issuer, and another service has another issuer. So each membership of a person
 * becomes an invitation to the person's address, which the first sign-in accepts. The result is the same for
 * the same time.
 */
export function invitationsOf(items: readonly RawItem[], nowMillis: number): RawItem[] {
  const found = new Map<string, RawItem>();
  const add = (scope: string, email: string, rest: RawItem): void => {
    const id = invitationIdOf(email);
    const item: RawItem = { ...rest, id: { S: id }, accountId: { S: scope }, email: { S: email } };
    const pk = scope === 'SERVICE' ? scope : `ACCOUNT#${scope}`;
    found.set(`${pk} ${id}`, { ...item, pk: { S: pk }, sk: { S: `INVITATION#${id}` } });
    found.set(`${id} ${pk}`, { ...item, pk: { S: `INVITED#${id}` }, sk: { S: scope } });
  };
  const ofKind = (kind: string): RawItem[] => items.filter((item) => kindOf(item) === kind);
  for (const { pk: _pk, sk: _sk, ...rest } of ofKind('INVITATION'))
    add(textOf(rest, 'accountId'), textOf(rest, 'email'), rest);
  const expiresAt = nowMillis + invitationMillis;
  const isOwner = (item: RawItem): number => Number(textOf(item, 'role') === 'owner');
  // A person with two identities keeps the higher role. A membership counts more than an invitation.
  for (const member of ofKind('MEMBER').sort((one, other) => isOwner(one) - isOwner(other)))
    add(textOf(member, 'accountId') || 'SERVICE', textOf(member, 'email'), {
      role: member['role'] ?? { S: 'operator' },
      ...(member['keyCapMicros'] && { keyCapMicros: member['keyCapMicros'] }),
      invitedAt: { S: new Date(nowMillis).toISOString() },
      invitedBy: { S: 'operator' },
      expiresAt: { N: String(expiresAt) },
      expiresAtSeconds: { N: String(Math.ceil(expiresAt / 1000)) },
    });
  return [...found.values()];
}

export function textOf(item: RawItem, name: string): string {
  return item[name]?.S ?? '';
}

export function numberOf(item: RawItem, name: string): number {
  return Number(item[name]?.N ?? 0);
}

/** From the JSON of a file. */
export function parseItem(line: string): RawItem {
  return JSON.parse(line, (name, value: unknown) => {
    if (name === 'B' && typeof value === 'string') return Buffer.from(value, 'base64');
    if (name === 'BS' && Array.isArray(value)) return value.map((one) => Buffer.from(String(one), 'base64'));
    return value;
  }) as RawItem;
}

/** Counts items by their kinds, with a sum of hashes that does not depend on their order. */
export function createCount() {
  const kinds = new Map<string, number>();
  let sum = 0n;
  return {
    add: (item: RawItem): void => {
      const kind = kindOf(item);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const hash = createHash('sha256').update(canonical(item)).digest('hex');
      sum = BigInt.asUintN(256, sum + BigInt(`0x${hash}`));
    },
    kinds: (): Record<string, number> => Object.fromEntries([...kinds].sort()),
    sum: (): string => sum.toString(16),
  };
}

/** The same text for the same item: members and sets have no order. */
export function canonical(value: unknown): string {
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, of]) => `${JSON.stringify(name)}:${textOfMember(name, of)}`).join()}}`;
}

function textOfMember(name: string, value: unknown): string {
  const isSet = ['SS', 'NS', 'BS'].includes(name) && Array.isArray(value);
  return isSet ? `[${(value as unknown[]).map(canonical).sort().join()}]` : canonical(value);
}
