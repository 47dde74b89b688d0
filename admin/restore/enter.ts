/**
 * Lists what came after the moment to which a table was restored, and enters it. Every decision compares an
 * item of the old table with the same item of the restored table, so after a kill another run continues.
 *
 *   1  the restored table     what the old table has no longer; whether anybody has used it since
 *   2  the old table          accounts and keys without their sums, references, people, service, catalog, everything else
 *   3  the audit              sums that the restore itself tore in the middle of a transaction
 *   4  the old table          money: movements, and creations with their rows, each with its sums
 *   5  the audit
 */
import {
  DeleteItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { dayAttribute, spentAttribute } from '../../service/accounts/account-items.ts';
import type { Difference } from '../../service/audit/books.ts';
import { counterExpiry } from '../../service/accounts/caps.ts';
import { keys, ttlAttribute } from '../../service/aws/dynamodb/table.ts';
import type { AccountId, CreationId, KeyId } from '../../service/values/ids.ts';
import { type Micros, toUsd } from '../../service/values/money.ts';
import { monthOf } from '../../service/values/time.ts';
import { inLanes } from '../../service/values/lanes.ts';
import { auditTable } from '../audit-table.ts';
import { atOnce, patiently } from '../move/busy-table.ts';
import { canonical, kindOf, numberOf, type RawItem, textOf } from '../move/items.ts';
import { accountOf, enterMoney, compareCreation, compareMovement, type Missing, raw } from './money.ts';
import { keyName, keyOf, type Restored } from './old-items.ts';

export const groups = [
  'accounts',
  'keys',
  'people',
  'service',
  'catalog',
  'movements',
  'creations',
  'rest',
] as const;
export type Group = (typeof groups)[number];

/** One thing that came after the moment. */
export interface Found {
  readonly what: Group;
  readonly change: 'new' | 'changed' | 'ended' | 'revoked' | 'removed' | 'differs' | 'sum';
  readonly of: string;
  readonly id: string;
  readonly usd: number | null;
  /** Why it is left to a person. Null: the command enters it. */
  readonly left: string | null;
}

/** Items that serve only ended requests, that are counted again, or that come with the ledger rows (USER). */
const ignored: ReadonlySet<string> = new Set(
  'AUDIT CLOSING ERASE HEALTH HELD IMPORT IP LEASE LINK OPEN_COUNT POLL RATE RETRY TEST_DELIVERY USAGE USER'.split(
    ' ',
  ),
);
const groupsOfKinds: Readonly<Record<string, Group>> = {
  ACCOUNT: 'accounts',
  KEY: 'keys',
  LEDGER: 'movements',
  PAYMENT: 'movements',
  EXTERNAL: 'accounts',
  OPERATOR_KEY: 'keys',
  CREATION: 'creations',
  SERVICE: 'service',
  OPERATOR_CATALOG: 'catalog',
  ...Object.fromEntries(
    'INVITATION INVITED MEMBER PEOPLE PERSON SESSION'.split(' ').map((kind) => [kind, 'people']),
  ),
};
/** Never removed: an old table without them is damaged. */
const lasting: ReadonlySet<string> = new Set([
  'ACCOUNT',
  'CREATION',
  'EXTERNAL',
  'KEY',
  'LEDGER',
  'OPERATOR_KEY',
  'PAYMENT',
  'REFERENCE',
  'SERVICE',
]);
/** Sums, counters and marks of accounts, keys and service, which only their own writers change. */
const isSum = (name: string): boolean =>
  /^(availableMicros|creditLineMicros|inFlight|openCreations|openSum|startsHeld|lastUsedAt|webhookFailures)$|^(spent_|day_|told)/.test(
    name,
  );
const isMoney = (kind: string): boolean => kind === 'LEDGER' || kind === 'CREATION';
/** A transaction that DynamoDB was still spreading at the moment is younger than this. */
const tornMillis = 60_000;
/** A creation has ended by then. */
const longestOpenMillis = 3_600_000;
const usedSince = 'the restored table was used: change it by hand';

export interface EnterOptions {
  readonly isEntered: boolean;
  readonly skip: ReadonlySet<Group>;
  readonly onFound: (found: Found) => void;
  readonly onProgress: (line: () => string) => void;
}

export interface Entered {
  readonly isUsed: boolean;
  readonly differences: readonly Difference[];
}

export async function enterAfter(given: Restored, options: EnterOptions): Promise<Entered> {
  const run = { ...given, ...options, near: new Set<AccountId>(), seen: new Set<string>() };
  const { isUsed, removed } = await checkRestored(run);
  for (const item of removed) await remove(item, isUsed, run);
  for await (const page of pagesOf(run)) {
    for (const item of page) if (isNear(item, run)) run.near.add(accountOf(item));
    const others = page.filter((item) => !isMoney(kindOf(item)) && !ignored.has(kindOf(item)));
    const here = await given.restored.get(others);
    await inLanes(atOnce, others, (item) => enterItem(item, here.get(keyName(item)), isUsed, run));
  }
  if (options.isEntered) await mendTorn(run);
  for await (const page of pagesOf(run))
    for (const item of page) if (isMoney(kindOf(item))) await enterMoneyOf(item, isUsed, run);
  return { isUsed, differences: options.isEntered ? await auditOf(run) : [] };
}

/** The restore may have cut the transaction of this row in the middle. */
function isNear(item: RawItem, { sinceMillis }: Run): boolean {
  return kindOf(item) === 'LEDGER' && Math.abs(Date.parse(textOf(item, 'at')) - sinceMillis) < tornMillis;
}

type Run = Restored & EnterOptions & { readonly near: Set<AccountId>; readonly seen: Set<string> };

async function* pagesOf({ old, onProgress }: Run): AsyncGenerator<readonly RawItem[]> {
  let count = 0;
  for await (const page of old.pages()) {
    count += page.length;
    onProgress(() => `${count} items of the old table`);
    yield page;
  }
}

function groupOf(item: RawItem): Group {
  return groupsOfKinds[kindOf(item)] ?? 'rest';
}

function tell(
  run: Run,
  item: RawItem,
  change: Found['change'],
  more: { readonly usd?: number; readonly left?: string } = {},
): boolean {
  const what = groupOf(item);
  const left = more.left ?? (run.skip.has(what) ? 'skipped' : null);
  const amount = more.usd;
  run.onFound({
    what,
    change,
    of: kindOf(item) === 'CREATION' ? textOf(item, 'accountId') : textOf(item, 'pk'),
    id: kindOf(item) === 'CREATION' ? textOf(item, 'id') : textOf(item, 'sk'),
    usd: amount === undefined ? null : toUsd(amount as Micros),
    left,
  });
  return left === null && run.isEntered;
}

async function checkRestored(run: Run): Promise<{ isUsed: boolean; removed: readonly RawItem[] }> {
  const removed: RawItem[] = [];
  let isUsed = false;
  for await (const page of run.restored.pages()) {
    const asked = page.filter((item) => !ignored.has(kindOf(item)) || isOutdated(item, run));
    const old = await run.old.get(asked);
    for (const item of asked) {
      const kind = kindOf(item);
      if (isOutdated(item, run)) removed.push(item);
      if (ignored.has(kind) || old.has(keyName(item))) continue;
      if (!lasting.has(kind)) removed.push(keyOf(item));
      const isLater = Date.parse(textOf(item, 'at')) > run.sinceMillis;
      if (kind === 'LEDGER' && textOf(item, 'kind') !== 'refund' && isLater) isUsed = true;
    }
  }
  return { isUsed, removed };
}

/**
 * The sums of a day, or the closing balance of a month, that rows may still change. The service recomputes
 * them.
 */
function isOutdated(item: RawItem, { sinceMillis }: Run): boolean {
  const [, part = '', day = ''] = textOf(item, 'sk').split('#');
  // A refund counts in the month of its charge.
  if (kindOf(item) === 'CLOSING') return part >= monthOf(sinceMillis - tornMillis - longestOpenMillis);
  return kindOf(item) === 'USAGE' && day >= new Date(sinceMillis - tornMillis).toISOString().slice(0, 10);
}

async function remove(item: RawItem, isUsed: boolean, run: Run): Promise<void> {
  const isTold = ignored.has(kindOf(item))
    ? run.isEntered
    : tell(run, item, 'removed', isUsed ? { left: usedSince } : {});
  if (!isTold) return;
  const command = { TableName: run.services.table.name, Key: keyOf(item) };
  await patiently(run.services, () => run.services.raw.dynamo.send(new DeleteItemCommand(command)));
}

async function enterItem(item: RawItem, here: RawItem | undefined, isUsed: boolean, run: Run): Promise<void> {
  const kind = kindOf(item);
  const hasSums = ['ACCOUNT', 'KEY', 'SERVICE'].includes(kind);
  const { services } = run;
  if (!here) {
    if (kind === 'PAYMENT' && (await isCreditedAgain(item, run))) return;
    if (!tell(run, item, 'new')) return;
    const Item = hasSums ? withoutSums(item) : item;
    await put(Item, { ConditionExpression: 'attribute_not_exists(pk)' }, run);
    return;
  }
  if (kind === 'REFERENCE') return;
  const names = [...new Set([...Object.keys(item), ...Object.keys(here)])].filter(
    (name) => !(hasSums && isSum(name)) && canonical(item[name] ?? null) !== canonical(here[name] ?? null),
  );
  if (names.length === 0) return;
  const isRevoked = names.includes('revokedAt') && item['revokedAt'] !== undefined;
  if (isUsed && isRevoked) {
    if (tell(run, item, 'revoked')) await set(keyOf(item), ['revokedAt'], item, run);
    return;
  }
  if (!tell(run, item, isRevoked ? 'revoked' : 'changed', isUsed ? { left: usedSince } : {})) return;
  if (hasSums) await set(keyOf(item), names, item, run);
  else await put(item, {}, { ...run, services });
}

/**
 * Whether the reference of the payment names another payment here, which then limits what may be given back.
 */
async function isCreditedAgain(payment: RawItem, { restored }: Run): Promise<boolean> {
  const key = raw(keys.reference(accountOf(payment), textOf(payment, 'reference')));
  const reference = (await restored.get([key])).get(keyName(key));
  return reference !== undefined && textOf(reference, 'payment') !== textOf(payment, 'id');
}

/** The ledger rows bring the money. */
function withoutSums(item: RawItem): RawItem {
  const kept = Object.entries(item).filter(([name]) => !isSum(name));
  const zero: AttributeValue = { N: '0' };
  const wallet = { availableMicros: zero, creditLineMicros: zero, inFlight: zero };
  return { ...Object.fromEntries(kept), ...(kindOf(item) === 'ACCOUNT' && wallet) };
}

async function put(Item: RawItem, condition: object, { services }: Run): Promise<void> {
  const command = new PutItemCommand({ TableName: services.table.name, Item, ...condition });
  await patiently(services, () =>
    services.raw.dynamo.send(command).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
    }),
  );
}

async function set(Key: RawItem, names: readonly string[], item: RawItem, { services }: Run): Promise<void> {
  const given = names.filter((name) => item[name] !== undefined);
  const gone = names.filter((name) => item[name] === undefined);
  const part = (word: string, list: readonly string[], value: (at: number) => string): string =>
    list.length === 0
      ? ''
      : `${word} ${list.map((name) => `#n${names.indexOf(name)}${value(names.indexOf(name))}`).join(', ')} `;
  const command = new UpdateItemCommand({
    TableName: services.table.name,
    Key,
    UpdateExpression: part('SET', given, (at) => ` = :v${at}`) + part('REMOVE', gone, () => ''),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#n${at}`, name])),
    ...(given.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(
        given.map((name) => [`:v${names.indexOf(name)}`, item[name] ?? { NULL: true }]),
      ),
    }),
  });
  await patiently(services, () => services.raw.dynamo.send(command));
}

async function enterMoneyOf(item: RawItem, isUsed: boolean, run: Run): Promise<void> {
  const kind = kindOf(item);
  const creation = (kind === 'CREATION' ? textOf(item, 'id') : textOf(item, 'creationId')) as CreationId;
  if (creation !== '' && run.seen.has(creation)) return;
  const here = (await run.restored.get([item])).get(keyName(item));
  if (here && canonical(here) === canonical(item)) return;
  if (here && kind === 'LEDGER') {
    await enterRowAgain(item, here, run);
    return;
  }
  if (creation === '') await enterMovement(item, run);
  else await enterCreation(creation, item, isUsed, run);
}

/** A row never changes, but for an erasure of its user. */
async function enterRowAgain(row: RawItem, here: RawItem, run: Run): Promise<void> {
  const { user: _user, ...rest } = here;
  const usd = numberOf(row, 'amountMicros');
  const isErased = canonical(rest) === canonical(row);
  if (
    tell(run, row, isErased ? 'changed' : 'differs', {
      usd,
      ...(!isErased && { left: 'its row was changed' }),
    })
  )
    await put(row, {}, run);
}

async function enterMovement(row: RawItem, run: Run): Promise<void> {
  const isSkipped = run.skip.has('movements');
  const missing = await enterMoney(
    () => compareMovement(row, run),
    run.services,
    run.isEntered && !isSkipped,
  );
  tellMoney(run, row, missing, numberOf(row, 'amountMicros'));
}

async function enterCreation(id: CreationId, item: RawItem, isUsed: boolean, run: Run): Promise<void> {
  run.seen.add(id);
  const key = raw(keys.creation(id));
  const record = (await run.old.get([key])).get(keyName(key));
  const account = accountOf(record ?? item);
  const places = record
    ? [
        keys.ledger(account, textOf(record, 'createdAt'), 'charge', id),
        keys.ledger(account, textOf(record, 'completedAt'), 'refund', id),
      ].map(raw)
    : [item];
  const rows = [...(await run.old.get(places)).values()];
  const compare = (): Promise<Missing> => compareCreation(record, rows, run, isUsed);
  const missing = await enterMoney(compare, run.services, run.isEntered && !run.skip.has('creations'));
  tellMoney(
    run,
    record ?? { ...item, sk: { S: `CREATION#${id}` } },
    missing,
    0 - numberOf(record ?? {}, 'costMicros') + numberOf(record ?? {}, 'refundedMicros'),
  );
}

function tellMoney(run: Run, item: RawItem, missing: Missing, usd: number): void {
  if (missing.kind === 'missing') tell(run, item, missing.change, { usd });
  if (missing.kind === 'differs') tell(run, item, 'differs', { usd, left: missing.why });
}

async function auditOf({ services, onProgress }: Run): Promise<readonly Difference[]> {
  const { differences } = await auditTable(services, {
    onProgress: ({ accounts, rows }) => onProgress(() => `audit: ${accounts} accounts, ${rows} ledger rows`),
  });
  return differences;
}

/** The rows are correct. Entries do not change the difference of a sum, so the sums are corrected first. */
async function mendTorn(run: Run): Promise<void> {
  const torn = (await auditOf(run)).flatMap((one) => {
    const sum = run.near.has(one.account) ? sumNamed(one) : undefined;
    return sum ? [{ ...one, ...sum }] : [];
  });
  for (const { account, key, name, month, expected, found } of torn) {
    run.onFound({
      what: 'movements',
      change: 'sum',
      of: `ACCOUNT#${account}`,
      id: `${textOf(key, 'sk')} ${name}`,
      usd: name === 'inFlight' ? null : toUsd((expected - found) as Micros),
      left: null,
    });
    const expires =
      month === undefined ? {} : { ':ttl': { N: String(Math.ceil(counterExpiry(month) / 1000)) } };
    const command = new UpdateItemCommand({
      TableName: run.services.table.name,
      Key: key,
      UpdateExpression: `SET #sum = :right${month === undefined ? '' : `, ${ttlAttribute} = :ttl`}`,
      ConditionExpression: found === 0 ? '#sum = :found OR attribute_not_exists(#sum)' : '#sum = :found',
      ExpressionAttributeNames: { '#sum': name },
      ExpressionAttributeValues: {
        ':right': { N: String(expected) },
        ':found': { N: String(found) },
        ...expires,
      },
    });
    await patiently(run.services, () => run.services.raw.dynamo.send(command));
  }
}

/** The attribute that holds a sum of the audit. @returns also the month of a counter, which expires */
function sumNamed({ account, what }: Difference): { key: RawItem; name: string; month?: string } | undefined {
  const own = { available: 'availableMicros', credit_line: 'creditLineMicros', in_flight: 'inFlight' }[what];
  if (own !== undefined) return { key: raw(keys.account(account)), name: own };
  const [, id, user, period] = /^spend of key (\S+)(?: for user (\S+))? (?:in|on) (\S+)$/.exec(what) ?? [];
  if (id === undefined || period === undefined) return undefined;
  if (user !== undefined)
    return {
      key: raw(keys.userSpend(account, id as KeyId, period, user)),
      name: 'spentMicros',
      month: period,
    };
  const isDay = what.includes(' on ');
  return {
    key: raw(keys.apiKey(account, id as KeyId)),
    name: (isDay ? dayAttribute : spentAttribute)(period),
  };
}
