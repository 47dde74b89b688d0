/** Calls each operation of the portal, on an account of its own whose ids are the same in each run. */
import { alertsVersion, budgetVersion } from '../../service/accounts/version.ts';
import type { PortalOperationName } from '../../service/contract/operations.ts';
import { absentIds, names, openStage, operationOf, prepare, rows, signIn } from '../portal/every-request.ts';
import type { FilledAccount } from '../portal/filled-account.ts';
import { type Asked, openWholePortal } from '../portal/whole-portal.ts';
import { countedBytes, leftBy, type RecordedAnswer } from './recorded-answer.ts';

export const portalFile = new URL('portal.json', import.meta.url);

type Ask = (account: FilledAccount) => Asked;

/** Requests by which members of an answer or words of a note come that the usual request of a row lacks. */
const more: readonly (readonly [what: string, name: PortalOperationName, ask: Ask])[] = [
  [
    'with every limit',
    'createKey',
    () => ({
      body: {
        name: 'limited',
        models: ['sandbox-sketch'],
        daily_cap: 1,
        monthly_cap: 2,
        total_cap: 3,
        per_user_monthly_cap: 0.5,
        expires_at: '2027-01-01T00:00:00Z',
      },
    }),
  ],
  [
    'all at once',
    'changeKey',
    ({ key, keyVersion }) => ({
      id: key,
      body: { name: 'changed', models: ['sandbox-sketch'], daily_cap: 1, version: keyVersion },
    }),
  ],
  ['in a week', 'rollKey', ({ key }) => ({ id: key, body: { old_key_ends_in: '7d' } })],
  [
    'with every field',
    'createCreation',
    () => ({
      body: {
        model: 'sandbox-standard',
        prompt: 'a lake',
        negative_prompt: 'people',
        aspect_ratio: '16:9',
        resolution: '2K',
        output_format: 'png',
        background: 'opaque',
        seed: 7,
        user: 'ada',
        webhook_url: 'https://receiver.test/hook',
      },
    }),
  ],
  ['in 24 hours', 'rotateSecret', () => ({ body: { sign_from: '24h' } })],
  [
    'to one endpoint',
    'redeliverFailed',
    ({ endpoint }) => ({ body: { since: '2026-11-01T00:00:00Z', endpoint } }),
  ],
  [
    'on, for other events',
    'changePortalEndpoint',
    ({ endpoint }) => ({
      id: endpoint,
      body: {
        url: 'https://other.test/hook',
        description: 'other',
        events: ['creation.failed'],
        enabled: true,
      },
    }),
  ],
  ['of an endpoint', 'testWebhook', ({ endpoint }) => ({ body: { endpoint, event: 'creation.failed' } })],
  ['of an address inside', 'testWebhook', () => ({ body: { url: 'https://inside.test/hook' } })],
  ['of no endpoint', 'testWebhook', () => ({ body: { endpoint: 'we_nothing' } })],
  [
    'with both',
    'setAlerts',
    () => ({
      body: { notice_url: 'https://receiver.test/notices', low_balance: 5, version: alertsVersion({}) },
    }),
  ],
  ['to none', 'setEmails', () => ({ body: { notices: [] } })],
  ['to none', 'setBudget', () => ({ body: { monthly_budget: null, version: budgetVersion({}) } })],
  [
    'with a cap for keys',
    'invitePerson',
    () => ({ body: { email: 'new@person.test', role: 'developer', key_cap: 5 } }),
  ],
  [
    'everything',
    'changeAccount',
    ({ id }) => ({
      id,
      body: {
        name: 'renamed',
        condition: 'suspended',
        credit_line: 5,
        limits: {
          ...{ post_rate: 7, get_rate: 9, user_post_rate: 5, user_get_rate: 6 },
          ...{ max_concurrent: 3, deadline_seconds: 90, max_unused_uploads: 4 },
        },
        results: 'unguessable',
      },
    }),
  ],
  ['beyond its balance', 'changeAccount', ({ id }) => ({ id, body: { credit_line: 1e9 } })],
  [
    'by a route',
    'pauseRoute',
    () => ({ body: { provider: 'fal', model: 'fal-ai/flux-2-pro', paused: true } }),
  ],
  ['with a reason', 'pauseRoute', () => ({ body: { provider: 'fal', paused: true, reason: 'too slow' } })],
  [
    'off',
    'setAutoTopUp',
    () => ({
      body: { is_on: false, threshold: 10, amount: 20, monthly_cap: 100, version: 1 },
    }),
  ],
  ['by the id of a key', 'findAnything', ({ key }) => ({ query: { q: key } })],
  ['by the id of a creation', 'findAnything', ({ creation }) => ({ query: { q: creation } })],
  ['by the id of a payment', 'findAnything', ({ payment }) => ({ query: { q: payment } })],
  ['by an address', 'findAnything', ({ member }) => ({ query: { q: member.email } })],
];

export async function playPortal(): Promise<RecordedAnswer[]> {
  const entries: RecordedAnswer[] = [];
  for (const name of names) {
    const { ask, naming } = rows[name];
    entries.push(await play(name, name, ask));
    const { query } = operationOf(name);
    if (query.length > 0)
      entries.push(
        await play(`${name} with wrong parameters`, name, (account) => ({
          ...ask?.(account),
          query: Object.fromEntries(query.map((one) => [one, '?'])),
        })),
      );
    const members = Object.keys(ask?.(absentIds as FilledAccount).body ?? {});
    if (members.length > 0)
      entries.push(
        await play(`${name} with wrong members`, name, (account) => ({
          ...ask?.(account),
          body: Object.fromEntries([...members, 'more'].map((one) => [one, {}])),
        })),
      );
    if (members.length > 0)
      entries.push(
        await play(`${name} without members`, name, (account) => ({ ...ask?.(account), body: {} })),
      );
    if (naming)
      entries.push(
        await play(`${name} of nothing`, name, (account) => {
          const { named } = rows[name];
          return naming(named?.({ ...account, ...absentIds }) ?? '', account);
        }),
      );
  }
  for (const [what, name, ask] of more) entries.push(await play(`${name} ${what}`, name, ask));
  return entries;
}

async function play(title: string, name: PortalOperationName, ask?: Ask): Promise<RecordedAnswer> {
  const stage = await openStage(name, openWholePortal('unguessable', countedBytes()));
  await prepare(name, stage);
  const { portal, account } = stage;
  const { role } = operationOf(name);
  const as = role === 'operator' ? await signIn(stage, role) : account.owner;
  const { status, headers, text, body } = await portal.ask(name, { ...ask?.(account), as });
  return {
    title,
    status,
    headers,
    body: text.startsWith('{') ? body : text,
    ...leftBy(portal, name),
  };
}
