/** Calls each operation of the operator API, on an account of its own whose ids are the same in each run. */
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import {
  type OperatorOperation,
  type OperatorOperationName,
  operatorOperations,
  operatorRoot,
  type OperatorScope,
  operatorScopes,
} from '../../service/contract/operator-operations.ts';
import { defaultLimits } from '../../service/contract/limits.ts';
import { createOperatorKeyStore } from '../../service/operated/operator-key-store.ts';
import { newOperatorKey } from '../../service/operated/operator-key.ts';
import type { Outbound } from '../../service/outbound/outbound.ts';
import { operatorHandlers } from '../../service/operator/handlers.ts';
import { openOperatorApi } from '../../service/operator/open.ts';
import { serveOperator } from '../../service/operator/serve-operator.ts';
import { catalog, providerCosts } from '../../service/platform/lambda.ts';
import { schema } from '../../service/values/runtime.ts';
import { createSecretBox } from '../../service/webhooks/secret-box.ts';
import { stub } from '../api/fakes.ts';
import { absentIds } from '../portal/every-request.ts';
import { fillAccount, type FilledAccount } from '../portal/filled-account.ts';
import { secrets } from '../portal/portal-fixture.ts';
import { openWholePortal, type WholePortal } from '../portal/whole-portal.ts';
import { fillBusyAccount } from './busy-account.ts';
import { countedBytes, leftBy, type RecordedAnswer } from './recorded-answer.ts';

export const operatorFile = new URL('operator.json', import.meta.url);

/** A request: its body, its query, and the scope that its key lacks. */
interface Good {
  readonly without?: OperatorScope;
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
  /** Instead of the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

const credit = { amount: 12.5, reference: 'invoice 7', source: 'bank', note: 'paid late' };

const rows: Readonly<Record<OperatorOperationName, Good>> = {
  listAccounts: { query: { limit: '1' } },
  openAccount: {
    body: {
      name: 'another',
      external_id: 'customer-2',
      opening_balance: 5,
      credit_line: 1,
      limits: {
        ...{ post_rate: 7, get_rate: 9, user_post_rate: 5, user_get_rate: 6 },
        ...{ max_concurrent: 3, deadline: 90, max_unused_uploads: 4 },
      },
      providers: ['fal'],
      hidden_models: ['sandbox-sketch'],
      notice_url: 'https://receiver.test/notices',
      low_balance: 2,
    },
  },
  getAccount: {},
  changeAccount: {
    body: {
      name: 'renamed',
      external_id: 'customer-3',
      condition: 'suspended',
      credit_line: 2,
      limits: { get_rate: 9 },
      providers: 'all',
      hidden_models: [],
      notice_url: null,
      low_balance: null,
    },
  },
  listKeys: {},
  getKey: {},
  createKey: { body: { name: 'limited', models: ['sandbox-sketch'], daily_cap: 1, total_cap: 3 } },
  changeKey: { body: { name: 'changed', monthly_cap: 2 } },
  rollKey: { body: { ends_in: '24h' } },
  revokeKey: { body: {} },
  getWallet: {},
  listLedger: { query: { from: '2026-11-01', to: '2026-11-30' } },
  listPayments: {},
  getPayment: {},
  createPayment: { body: credit },
  reversePayment: { body: { reference: 'reversal 1', reason: 'a mistake', amount: 0.5 } },
  adjustWallet: { body: { amount: -1.25, reason: 'a mistake', reference: 'correction 1' } },
  getWebhookSecret: {},
  issueWebhookSecret: { body: {} },
  rotateWebhookSecret: { body: { sign_from: '1h' } },
  getUsage: { query: { by: 'model' } },
  reportUsage: { query: { by: 'day' } },
  reportMargin: { query: { by: 'provider' } },
  listModels: {},
  listProviders: {},
  listActions: {},
};

/** A member of a body can need a scope beside that of the operation. */
const more: readonly (readonly [what: string, name: OperatorOperationName, good: Good])[] = [
  [
    'with a credit line that the key may not give',
    'openAccount',
    { without: 'wallet:adjust', body: { name: 'another', credit_line: 0.5 } },
  ],
  [
    'with a balance that the key may not credit',
    'openAccount',
    { without: 'wallet:credit', body: { name: 'another', opening_balance: 0.5 } },
  ],
  [
    'to a credit line that the key may not give',
    'changeAccount',
    { without: 'wallet:adjust', body: { credit_line: 0.5 } },
  ],
];

const strangers: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[] = [
  ['without a key', { authorization: '' }],
  ['without a key, from a page of another site', { authorization: '', 'sec-fetch-site': 'cross-site' }],
  ['with another scheme', { authorization: 'Basic YTpi' }],
  ['with no key of the form', { authorization: 'Bearer nothing' }],
  ['with the key of nobody', { authorization: `Bearer dk_op_${'A'.repeat(60)}` }],
];

const names = Object.keys(rows) as OperatorOperationName[];
const operationOf = (name: OperatorOperationName): OperatorOperation => operatorOperations[name];
const environment: Readonly<Record<string, string>> = {
  TABLE_NAME: 'table',
  DEFAULT_LIMITS: JSON.stringify(defaultLimits),
  RESULTS: 'unguessable',
};

export async function playOperator(): Promise<RecordedAnswer[]> {
  const entries: RecordedAnswer[] = [];
  for (const name of names) {
    const good = rows[name];
    entries.push(await play(name, name, good));
    const { query, path } = operationOf(name);
    if (query.length > 0)
      entries.push(
        await play(`${name} with wrong parameters`, name, {
          query: Object.fromEntries(query.map((one) => [one, '?'])),
        }),
      );
    const members = Object.keys(good.body ?? {});
    if (members.length > 0)
      entries.push(
        await play(`${name} with wrong members`, name, {
          body: Object.fromEntries([...members, 'more'].map((one) => [one, {}])),
        }),
      );
    if (members.length > 0) entries.push(await play(`${name} without members`, name, { body: {} }));
    if (path.includes('{')) entries.push(await play(`${name} of nothing`, name, good, absentIds));
  }
  for (const [what, headers] of strangers)
    entries.push(await play(`listAccounts ${what}`, 'listAccounts', { headers }));
  for (const [what, name, good] of more) entries.push(await play(`${name} ${what}`, name, good));
  return entries;
}

async function play(
  title: string,
  name: OperatorOperationName,
  good: Good,
  instead: Partial<FilledAccount> = {},
): Promise<RecordedAnswer> {
  const portal = openWholePortal('unguessable', countedBytes());
  // What reads has a history to read.
  const account =
    operationOf(name).method === 'GET'
      ? await fillBusyAccount(portal)
      : await fillAccount(portal, 'studio', name.includes('Payment'));
  const ask = await openOperator(portal, good.without);
  const asked = { ...account, ...instead };
  if (name.endsWith('WebhookSecret') && name !== 'issueWebhookSecret')
    await ask('issueWebhookSecret', account);
  // A payment of Stripe cannot be reversed here.
  const { made = '' } =
    name === 'reversePayment' ? await ask('createPayment', account, rows.createPayment) : {};
  const payment = made === '' || instead.payment !== undefined ? asked.payment : made;
  const { made: _, ...answer } = await ask(name, { ...asked, payment }, good);
  return { title, ...answer, ...leftBy(portal, name) };
}

type Ask = (
  name: OperatorOperationName,
  of: FilledAccount,
  good?: Good,
) => Promise<Omit<RecordedAnswer, 'title'> & { readonly made: string }>;

/** The operator API over the table of the portal, with a key that has every scope but one. */
async function openOperator(
  { table, clock, randomBytes, log }: WholePortal,
  without?: OperatorScope,
): Promise<Ask> {
  const { record, key } = newOperatorKey(
    { name: 'back end', scopes: operatorScopes.filter((scope) => scope !== without) },
    { clock, randomBytes },
  );
  await createOperatorKeyStore(table).create(record);
  const serve = serveOperator(
    operatorHandlers,
    openOperatorApi({
      clock,
      randomBytes,
      environment: (variable) => environment[variable] ?? '',
      log: () => log,
      schema: () => schema,
      remembered: (_name, make) => {
        const made = make();
        return () => made;
      },
      dynamodb: table.client,
      outbound: stub<Outbound>({ check: () => Promise.resolve({ kind: 'allowed' }) }),
      secretBox: createSecretBox({ client: secrets, secretArn: 'arn', clock, randomBytes }),
      catalog,
      providerCosts,
    }),
  );
  let sent = 0;
  return async (name, { id, key: apiKey, payment }, { body, query = {}, headers: sentHeaders = {} } = {}) => {
    sent += 1;
    const { method, path } = operationOf(name);
    const rawPath = `${operatorRoot}${path}`
      .replace('{account}', id)
      .replace('{key}', apiKey)
      .replace('{payment}', payment);
    const answer = await serve(
      {
        rawPath,
        headers: {
          authorization: `Bearer ${key}`,
          ...sentHeaders,
          ...(body && { 'content-type': 'application/json', 'idempotency-key': `request-${sent}` }),
        },
        queryStringParameters: query,
        ...(body && { body: JSON.stringify(body) }),
        isBase64Encoded: false,
        requestContext: {
          requestId: 'request',
          timeEpoch: clock.now(),
          http: { method, sourceIp: '198.51.100.1' },
        },
      } as unknown as APIGatewayProxyEventV2,
      {} as Context,
    );
    if (typeof answer === 'string') throw new Error('the function answered a text');
    const { statusCode: status = 0, headers = {}, body: text = '' } = answer;
    const parsed = JSON.parse(text) as { readonly id?: string };
    return {
      status,
      headers: headers as Readonly<Record<string, string>>,
      body: parsed,
      made: parsed.id ?? '',
    };
  };
}
