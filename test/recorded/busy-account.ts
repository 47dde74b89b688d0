/** An account with a history: creations of every status, end and door, and what each of them leaves behind. */
import type { ApiKey } from '../../service/accounts/account.ts';
import { newKey, playgroundKey } from '../../service/accounts/key-changes.ts';
import { rateExceeded } from '../../service/api/problems.ts';
import { failureNames, type FailureName } from '../../service/contract/failures.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import type { CreationRecord, RouteAttempt } from '../../service/creations/creation.ts';
import { createOperatorKeyStore } from '../../service/operated/operator-key-store.ts';
import { newOperatorKey } from '../../service/operated/operator-key.ts';
import type { PaymentId } from '../../service/payments/payment.ts';
import { type CreationId, type TokenId, uuidV7 } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { invalidRequest } from '../../service/values/problem.ts';
import { dayOf, monthOf } from '../../service/values/time.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { aRequest, refusalsOf } from '../api/refusal-fixture.ts';
import { aCreation, keyId as keyOfNobody, now, storedImage } from '../fixtures/records.ts';
import { fillAccount, type FilledAccount } from '../portal/filled-account.ts';
import type { WholePortal } from '../portal/whole-portal.ts';

export interface BusyAccount extends FilledAccount {
  readonly keys: readonly ApiKey[];
  readonly creations: readonly CreationId[];
  readonly deliveries: readonly string[];
}

const dayMillis = 86_400_000;
const tokenId = 'Token00001' as TokenId;
const attempt: RouteAttempt = {
  provider: 'fal',
  providerModel: 'fal-ai/flux-2-pro',
  startedAt: new Date(now).toISOString(),
  endedAt: new Date(now + 900).toISOString(),
  resultKey: 'results/never.png',
  outcome: 'unavailable',
  detail: '503 busy',
  usualMillis: 4_000,
  againAt: now + 60_000,
};
const rendered: RouteAttempt = {
  ...attempt,
  provider: 'sandbox',
  providerModel: 'standard',
  outcome: 'rendered',
  detail: '200',
  jobId: 'job-1',
  providerCostMicros: asMicros(7_000),
  billedMicros: asMicros(8_000),
};

/** It has no end yet. */
const working: RouteAttempt = {
  provider: 'sandbox',
  providerModel: 'standard',
  startedAt: new Date(now + 1_000).toISOString(),
  resultKey: 'results/soon.png',
};

/** A creation: how many days ago, by which of the keys, its members, and how it ended. */
interface Past {
  readonly daysAgo: number;
  readonly key: number;
  readonly change?: Partial<CreationRecord>;
  readonly ended?: 'completed' | FailureName | 'cancelled';
}

const everyField: Partial<CreationRecord> = {
  model: 'sandbox-pro',
  resolution: '2K',
  aspectRatio: '16:9',
  outputFormat: 'webp',
  seed: 7,
  negativePrompt: 'people',
  background: 'transparent',
  quality: 'high',
  sources: [{ ...storedImage, key: 'sources/one.png' }],
  mask: { ...storedImage, key: 'sources/mask.png' },
  metadata: { order: '4711-a', step: '2' },
  user: 'ada',
  costMicros: asMicros(120_000),
  signedMinutes: 15,
  colours: '112233445566',
  machine: 'callback',
  attempts: [attempt, rendered],
};

const triedTwice = { url: 'https://busy.test/hook', status: 'pending', attempts: 2, nextAt: now } as const;

const history: readonly Past[] = [
  { daysAgo: 0, key: 0, change: { status: 'processing', attempts: [attempt, working] } },
  { daysAgo: 0, key: 2, change: { index: 1, user: 'ada' }, ended: 'completed' },
  { daysAgo: 0, key: 0, change: everyField, ended: 'completed' },
  { daysAgo: 0, key: 1, change: { tokenId, user: 'bob' }, ended: 'cancelled' },
  ...failureNames.map((ended, daysAgo): Past => ({
    daysAgo,
    key: daysAgo % 3,
    change: { attempts: [attempt] },
    ended,
  })),
  { daysAgo: 0, key: 0, change: { webhook: triedTwice }, ended: 'completed' },
  { daysAgo: 1, key: 1, change: { user: 'ada', attempts: [rendered] }, ended: 'completed' },
  { daysAgo: 6, key: 0, change: { resultsDeletedBy: keyOfNobody }, ended: 'completed' },
  { daysAgo: 25, key: 0, change: { user: 'bob', costMicros: asMicros(90_000) }, ended: 'completed' },
  {
    daysAgo: 40,
    key: 1,
    change: { erasedAt: new Date(now).toISOString(), erasedBy: 'operator', prompt: null },
    ended: 'completed',
  },
];

export async function fillBusyAccount(portal: WholePortal): Promise<BusyAccount> {
  const account = await fillAccount(portal, 'studio');
  const { id } = account;
  const keys = await openKeys(portal, account);
  const creations: CreationId[] = [];
  for (const past of [...history].reverse()) creations.push(await live(portal, account, keys, past));
  const tried = deliveriesOf(account, creations);
  for (const delivery of tried) await portal.deliveries.record(delivery);
  await refuse(portal, account, keys);
  for (let failures = 0; failures < 10; failures += 1) await portal.deliveries.countFailure(id);
  await leaveForOperator(portal, account);
  await portal.wallet.adjust(id, asMicros(-250_000), 'goodwill', 'too much');
  await portal.wallet.topUp(id, asMicros(3_000_000), 'invoice 8');
  for (const role of ['developer', 'finance'] as const)
    await portal.signIn(`${role}@studio.test`, id, role, { keyCapMicros: 5_000_000 });
  return { ...account, keys, creations, deliveries: tried.map((one) => one.id) };
}

/** A payment that the operator has to check, and a key of the operator API. */
async function leaveForOperator(portal: WholePortal, { owner }: FilledAccount): Promise<void> {
  const { clock, randomBytes, table } = portal;
  const { body } = await portal.ask('beginPayment', { as: owner, body: { amount: 7, save_card: false } });
  const payment = await portal.stripePayments.read(body.id as PaymentId);
  if (payment === undefined || !(await portal.stripePayments.hold(payment)))
    throw new Error('the payment is not held');
  const { record } = newOperatorKey({ name: 'back end', scopes: ['wallet:credit'] }, { clock, randomBytes });
  await createOperatorKeyStore(table).create(record);
}

/** A plain key, a key with every cap that ends soon, and the key of the playground; and one that was revoked. */
async function openKeys(portal: WholePortal, { id }: FilledAccount): Promise<readonly ApiKey[]> {
  const { clock, randomBytes } = portal;
  const made = (name: string, more: Partial<ApiKey> = {}): ApiKey => ({
    ...newKey(id, { name }, { clock, randomBytes }).record,
    ...more,
  });
  const caps = {
    dailyCapMicros: asMicros(1_000_000),
    monthlyCapMicros: asMicros(5_000_000),
    totalCapMicros: asMicros(9_000_000),
    perUserMonthlyCapMicros: asMicros(2_000_000),
    expiresAt: new Date(now + 3 * dayMillis).toISOString(),
    models: ['sandbox-standard', 'sandbox-pro'],
  };
  const keys = [made('plain'), made('limited', caps), playgroundKey({ id }, now)];
  const revoked = made('revoked');
  for (const key of [...keys, revoked]) await portal.keys.create(key);
  await portal.keys.revoke(id, revoked.id, new Date(now - dayMillis).toISOString());
  return keys;
}

/** Charges a creation as the service does, and ends it. */
async function live(
  { table, keys: keyStore, creations: store, randomBytes }: WholePortal,
  { id: accountId }: FilledAccount,
  keys: readonly ApiKey[],
  { daysAgo, key: index, change, ended }: Past,
): Promise<CreationId> {
  const at = now - daysAgo * dayMillis;
  const key = keys[index];
  const apiKey = key && (await keyStore.read(accountId, key.id));
  if (apiKey === undefined) throw new Error(`there is no key ${index}`);
  const creation = {
    ...aCreation({
      accountId,
      keyId: apiKey.id,
      prompt: `${ended ?? 'open'} of ${daysAgo} days ago`,
      createdAt: new Date(at).toISOString(),
      deadlineAt: at + 300_000,
      chargedMonth: monthOf(at),
      chargedDay: dayOf(at),
      ...(apiKey.perUserMonthlyCapMicros !== undefined && { user: 'ada', countedForUser: true as const }),
    }),
    ...change,
    id: uuidV7(at, randomBytes(16)) as CreationId,
  };
  const charges = createChargeStore(table);
  const outcome = await charges.charge({ creations: [creation], apiKey, maxConcurrent: 100, nowMillis: at });
  if (outcome.kind !== 'charged') throw new Error(`${creation.prompt}: ${outcome.kind}`);
  const { attempts } = creation;
  if (ended === 'completed')
    await store.complete(creation, {
      results: [storedImage],
      resultsExpireAt: at + 30 * dayMillis,
      attempts,
      nowMillis: at + 4_000,
    });
  else if (ended === 'cancelled') await charges.cancel(creation, { nowMillis: at + 2_000, attempts });
  else if (ended) await charges.refund(creation, { failure: ended, nowMillis: at + 3_000, announce: false });
  return creation.id;
}

function deliveriesOf(
  { id: accountId, endpoint }: FilledAccount,
  creations: readonly CreationId[],
): Delivery[] {
  const common = {
    accountId,
    event: 'creation.completed',
    url: 'https://receiver.test/hook',
    attempt: 1,
    signedAt: Math.floor(now / 1_000),
    millis: 40,
  } as const;
  const ends: readonly Partial<Delivery>[] = [
    { outcome: 'delivered', status: 204, endpointId: endpoint, responseHeaders: { server: 'nginx' } },
    {
      outcome: 'failed',
      status: 500,
      responseExcerpt: 'no',
      nextAttemptAt: new Date(now + 60_000).toISOString(),
    },
    { outcome: 'failed', reason: 'timeout', failure: 'no_http', attempt: 5 },
    { outcome: 'unknown' },
    {},
    {
      outcome: 'delivered',
      status: 200,
      event: 'wallet.low',
      cuts: { current: 'abc', standard: ['v1,abc'] },
    },
  ];
  return ends.map((end, index) => ({
    ...common,
    startedAt: new Date(now - index * 60_000).toISOString(),
    id: uuidV7(now - index * 60_000, new Uint8Array(16).fill(index)),
    ...(end.event === undefined && { creationId: creations[index] }),
    ...end,
  }));
}

/** A row for a refusal at each door, and the row that counts those beyond the rows of a minute. */
async function refuse(
  { table, log }: WholePortal,
  { id: accountId }: FilledAccount,
  keys: readonly ApiKey[],
): Promise<void> {
  const open = refusalsOf(table, log);
  const wrong = invalidRequest([{ field: 'resolution', code: 'invalid_value', message: 'must be "1K"' }]);
  const paths = [
    '/api/public/v1/images/generate',
    '/openai/v1/images/edits',
    '/mcp',
    '/portal/api/creations',
  ];
  for (const [index, path] of [...paths, ...Array.from({ length: 12 }, () => '/mcp')].entries()) {
    const keyId = keys[index % 2]?.id ?? keyOfNobody;
    const request = aRequest({ path, requestId: `request-${index}`, text: '{"prompt":"a lake"}' });
    const problem = index % 2 === 0 ? wrong : rateExceeded('post', 60, 30);
    await open().note(request, { accountId, keyId, ...(index === 2 && { tokenId }) }, problem);
  }
}
