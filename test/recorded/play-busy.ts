/** Reads an account with a history by each operation of the portal that reads, with its filters and its pages. */
import { rateExceeded } from '../../service/api/problems.ts';
import type { PortalOperationName } from '../../service/contract/operations.ts';
import { operationOf, names, rows } from '../portal/every-request.ts';
import { type Asked, openWholePortal, type SignedIn } from '../portal/whole-portal.ts';
import { type BusyAccount, fillBusyAccount } from './busy-account.ts';
import { countedBytes, type RecordedAnswer } from './recorded-answer.ts';

export const busyFile = new URL('busy.json', import.meta.url);

type Query = Readonly<Record<string, string>>;
type Filters = Partial<Record<PortalOperationName, readonly Query[]>>;

/** The filters and groups of each operation that has some. */
const filters = ({ keys: [, limited], creations, endpoint }: BusyAccount): Filters => {
  const byKey = [{ key: limited?.id ?? '' }, { key: 'portal' }];
  const ofCreations: Query[] = [
    ...['queued', 'completed', 'failed'].map((status) => ({ status })),
    ...[{ model: 'sandbox-pro' }, { user: 'ada' }, { day: '2026-11-20' }, { limit: '3' }, ...byKey],
  ];
  const ofRequests: Query[] = [
    ...['accepted', 'refused'].map((outcome) => ({ outcome })),
    ...['api', 'openai', 'mcp', 'portal'].map((door) => ({ door })),
    ...[{ status: '429' }, { code: rateExceeded('post', 60, 30).code }, { limit: '4' }, ...byKey],
  ];
  // Cursors that no answer gave.
  const places = [{ accepted: 'x' }, { accepted: '' }, { refused: 'x' }, { refused: '' }, { other: '' }, {}];
  const forged = places.map((place) => ({
    cursor: Buffer.from(JSON.stringify(place)).toString('base64url'),
  }));
  const ofDeliveries: Query[] = [
    ...['delivered', 'failed', 'unknown'].map((outcome) => ({ outcome })),
    ...[{ creation: creations[0] ?? '' }, { limit: '2' }],
  ];
  const days = { from: '2026-11-01', to: '2026-11-21' };
  return {
    listPortalCreations: ofCreations,
    listAccountCreations: ofCreations,
    listPortalRequests: [...ofRequests, ...forged],
    listAccountRequests: ofRequests,
    listDeliveries: [...ofDeliveries, { endpoint }],
    listAccountDeliveries: ofDeliveries,
    listLedger: [{ limit: '3' }],
    listAccountLedger: [{ limit: '3' }],
    exportLedger: [{ month: '2026-10' }],
    getStatement: [{ month: '2026-10' }, { month: '2026-11' }],
    getUsage: ['model', 'key', 'user', 'day'].map((by) => ({ ...days, by })),
    exportUsage: ['model', 'key', 'user'].map((by) => ({ ...days, by })),
    getMargin: ['model', 'provider', 'account'].map((by) => ({ ...days, by })),
    findAnything: [creations[1], 'owner@studio.test', 'stu'].map((q = '') => ({ q })),
  };
};

export async function playBusy(): Promise<RecordedAnswer[]> {
  const portal = openWholePortal('unguessable', countedBytes());
  const account = await fillBusyAccount(portal);
  const operator = await portal.signIn('operator@person.test', undefined, 'operator');
  const entries: RecordedAnswer[] = [];
  const play = async (
    title: string,
    name: PortalOperationName,
    asked: Asked,
    as: SignedIn,
  ): Promise<void> => {
    const { status, headers, text, body } = await portal.ask(name, { ...asked, as });
    entries.push({ title, status, headers, body: text.startsWith('{') ? body : text });
    // The next page, once.
    const cursor = (body as { readonly next_cursor?: string | null }).next_cursor;
    if (cursor && asked.query?.['cursor'] === undefined)
      await play(`${title}, the next page`, name, { ...asked, query: { ...asked.query, cursor } }, as);
  };
  const things: Partial<Record<PortalOperationName, readonly string[]>> = {
    showKey: account.keys.map(({ id }) => id),
    getPortalCreation: account.creations,
    showOperatedCreation: account.creations,
    getDelivery: account.deliveries,
  };
  for (const name of names) {
    const { method, role } = operationOf(name);
    if (method !== 'GET' || name === 'getReceipt') continue;
    const as = role === 'operator' ? operator : account.owner;
    const usual = rows[name].ask?.(account) ?? {};
    await play(name, name, usual, as);
    for (const id of things[name] ?? []) await play(`${name} ${id}`, name, { id }, as);
    for (const query of filters(account)[name] ?? [])
      await play(`${name} ${JSON.stringify(query)}`, name, { ...usual, query }, as);
  }
  return entries;
}
