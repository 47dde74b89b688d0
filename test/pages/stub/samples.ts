/**
 * An account as a busy client has it, for the pages. Its times lie before the moment that is given. The file is a
 * table of samples, so it may be longer than 300 lines.
 */
import type * as view from '../../../service/contract/portal-views.ts';
import { catalog } from '../../../service/platform/lambda.ts';
import { modelViews } from '../../../service/portal/model-view.ts';
import { endpointEvents } from '../../../service/webhooks/endpoint.ts';
import { sampleBody } from '../../../service/webhooks/samples.ts';
import { anAccount } from '../../fixtures/records.ts';

const minute = 60_000;
const day = 86_400_000;

/** What a client or a receiver may write. Nothing of it may run. */
export const hostile = '<img src=x onerror="window.struck=1"><script>window.struck=1</script>';

export const creationIds = Array.from(
  { length: 24 },
  (_, index) => `01a1fea2-83cb-71c7-a229-${(0xe47b2c1760f6 + index).toString(16)}`,
);

const prompts = [
  'a lighthouse in a storm, long exposure',
  'a quiet lake at dawn, mist over the water, a single rowing boat tied to an old wooden jetty',
  'a fox asleep in fresh snow',
  hostile,
  'the kitchen of a small bakery, five in the morning',
  'a red lantern in the rain, reflections on the pavement',
];

/** Of a placeholder. */
const colours = [
  '#243b55',
  '#3a4a5f',
  '#243b55',
  '#7a5a55',
  '#a0634f',
  '#7a5a55',
  '#1d2730',
  '#141a20',
  '#1d2730',
];

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** All answers that follow from the moment. */
export function samplesAt(nowMillis: number) {
  const ago = (millis: number): string => new Date(nowMillis - millis).toISOString();
  const inFuture = (millis: number): string => new Date(nowMillis + millis).toISOString();
  const dayText = (millis: number): string => ago(millis).slice(0, 10);

  const key = (
    change: Partial<view.KeyView> & Pick<view.KeyView, 'id' | 'name' | 'created_at'>,
  ): view.KeyView => ({
    ...{ prefix: '', last4: null, last_used_at: null, expires_at: null, revoked_at: null, models: null },
    ...{ daily_cap: null, monthly_cap: null, total_cap: null, per_user_monthly_cap: null },
    ...{ spent_today: 0, spent_this_month: 0, spent_total: 0, version: 'v1' },
    ...change,
  });
  const keys: view.KeyView[] = [
    key({
      ...{ id: 'key_production', name: 'Web shop, production', last4: 'x7Qp' },
      ...{ prefix: 'dk_live_OMzIzQI7QjjrnGTl', created_at: ago(92 * day), last_used_at: ago(4 * minute) },
      ...{ daily_cap: 20, monthly_cap: 250, per_user_monthly_cap: 5 },
      ...{ spent_today: 7.42, spent_this_month: 212.385, spent_total: 1204.1 },
    }),
    key({
      ...{ id: 'key_night', name: 'Night batch', last4: 'Ab3d', created_at: ago(31 * day) },
      ...{
        prefix: 'dk_live_OMzIzQI7QjZk8xYm',
        last_used_at: ago(9 * 60 * minute),
        expires_at: inFuture(6 * day),
      },
      ...{ models: ['sandbox-sketch'], monthly_cap: 60 },
      ...{ spent_today: 0.11, spent_this_month: 18.94, spent_total: 18.94 },
    }),
    key({
      ...{ id: 'key_old', name: 'Prototype of last year', created_at: ago(300 * day), spent_total: 12.5 },
      ...{ prefix: 'dk_live_OMzIzQI7QjT2xkS2', last_used_at: ago(120 * day), revoked_at: ago(100 * day) },
    }),
  ];

  const token = { spend_limit: 0.5, max_uses: 10, revoked_at: null };
  const tokens: Omit<view.KeyDetail, 'key'> = {
    tokens: [
      {
        ...token,
        id: 'jjrnGTla81',
        user: 'visitor-8841',
        spent: 0.12,
        uses: 3,
        expires_at: inFuture(4 * minute),
      },
      { ...token, id: 'jjrnGTlb02', user: hostile, spent: 0.48, uses: 10, expires_at: ago(minute) },
      {
        ...{ ...token, id: 'jjrnGTlc93', user: 'visitor-17', spent: 0, uses: 0, expires_at: ago(9 * minute) },
        revoked_at: ago(12 * minute),
      },
    ],
    ...{ token_count: 3, tokens_spent: 0.6, has_all_tokens: true },
  };

  const sandboxAlone = { enabledProviders: ['sandbox'] };
  const models = modelViews(catalog, anAccount().policy, sandboxAlone, nowMillis)
    .filter(({ id }) => id === 'sandbox-standard' || id === 'sandbox-sketch')
    .toReversed();

  const creations = creationIds.map((id, index): view.CreationRow => {
    const status = index === 0 ? 'processing' : index % 7 === 4 ? 'failed' : 'completed';
    return {
      id,
      status,
      model: index % 3 === 0 ? 'sandbox-sketch' : 'sandbox-standard',
      prompt: prompts[index % prompts.length] ?? null,
      resolution: '1K',
      aspect_ratio: '3:2',
      cost: index % 3 === 0 ? 0.01 : 0.045,
      amount_refunded: status === 'failed' ? 0.045 : 0,
      error: status === 'failed' ? 'Generation failed. Please try again.' : null,
      error_code: status === 'failed' ? 'generation_failed' : null,
      // The longest user that a request may name.
      user: index % 4 === 0 ? 'customer-118'.padEnd(64, '0') : null,
      key:
        index % 5 === 0
          ? { id: 'portal', name: 'Playground' }
          : { id: 'key_production', name: 'Web shop, production' },
      result_urls: status === 'completed' ? [`/stub/picture-${index % 6}.svg`] : [],
      picture:
        status === 'completed'
          ? {
              ...{ url: `/stub/picture-${index % 6}.svg`, content_type: 'image/png' },
              ...(index % 3 === 1 ? { width: 832, height: 1216 } : { width: 1216, height: 832 }),
              small_url: `/stub/picture-${index % 6}.svg?96`,
              large_url: index % 8 === 3 ? null : `/stub/picture-${index % 6}.svg?480`,
              colours: index % 8 === 3 ? [] : colours,
            }
          : null,
      result_expires_at: status === 'completed' ? inFuture(23 * 60 * minute - index * 50 * minute) : null,
      webhook: { status: index === 4 ? 'failed' : 'delivered', attempts: index === 4 ? 5 : 1 },
      created_at: ago(index * 47 * minute + 9000),
      completed_at: status === 'processing' ? null : ago(index * 47 * minute),
      cancelled_at: null,
      look_after_seconds: status === 'processing' ? 2 : null,
    };
  });

  const refusals = [
    [429, 'ERR_RATE_LIMIT', 'account_rate', null, 'This account may send 60 POST requests a minute.'],
    [400, 'ERR_INVALID_REQUEST', null, 'resolution', 'resolution: must be one of "1K", "2K", "4K"'],
    [402, 'ERR_INSUFFICIENT_BALANCE', null, null, `The request costs 0.04 USD. ${hostile}`],
    [503, 'ERR_PROVIDER_UNAVAILABLE', 'overloaded', null, 'The service is busy. Nothing was charged.'],
  ] as const;
  const request = (index: number): view.RequestRow => {
    const [status, code, reason, field, message] = refusals[index % 4] ?? refusals[0];
    const base = {
      id: `request_${index}`,
      at: ago(index * 7 * minute),
      token: null,
      key: { id: 'key_production', name: 'Web shop, production' },
    };
    const body = JSON.stringify({ model: 'sandbox-standard', prompt: `it's ${hostile}`, resolution: '8K' });
    if (index % 5 === 4)
      return {
        ...base,
        ...{
          outcome: 'accepted',
          door: null,
          method: null,
          path: null,
          status: null,
          code: null,
          reason: null,
        },
        ...{ field: null, message: null, request_id: null, ms: null, address: null, body, count: 1 },
        creation: creationIds[index % creationIds.length] ?? null,
      };
    return {
      ...base,
      ...{ outcome: 'refused', method: 'POST', status, code, reason, field, message, body, creation: null },
      door: index % 4 === 2 ? 'openai' : 'api',
      path: index % 4 === 2 ? '/openai/v1/images/generations' : '/api/public/v1/images/generate',
      request_id: `d6e445f1-b67f-4298-8ff8-8014553${index}`,
      ms: 12 + index,
      address: '203.0.113.0/24',
      count: index === 0 ? 4_213 : 1,
    };
  };
  const requests = Array.from({ length: 12 }, (_, index) => request(index));

  const delivery = (index: number): view.DeliveryRow => {
    const isFailed = index % 4 === 1;
    return {
      id: `delivery_${index}`,
      at: ago(index * 13 * minute + 20_000),
      event: isFailed ? 'creation.failed' : 'creation.completed',
      creation: index === 2 ? null : (creationIds[index % creationIds.length] ?? null),
      is_test: index === 2,
      endpoint: index % 5 === 3 ? 'we_4nUc0Za7BpQ3x1' : null,
      host: isFailed ? 'hooks.staging.example.com' : 'hooks.example.com',
      attempt: isFailed ? 3 : 1,
      of: 5,
      outcome: isFailed ? 'failed' : index === 7 ? 'unknown' : 'delivered',
      status: isFailed ? (index === 5 ? 500 : null) : index === 7 ? null : 204,
      ms: isFailed ? 10_004 : 84 + index * 3,
      next_attempt_at: isFailed && index < 6 ? inFuture(22 * minute) : null,
      reason: isFailed
        ? 'The name hooks.staging.example.com was not found. Check the DNS records of your receiver.'
        : null,
    };
  };
  const deliveries = Array.from({ length: 14 }, (_, index) => delivery(index));

  const body = JSON.stringify({
    event: 'creation.completed',
    id: creationIds[1],
    status: 'completed',
    prompt: hostile,
    result_urls: ['https://results.example.com/3f0c.png'],
  });
  const deliveryDetail = (row: view.DeliveryRow): view.DeliveryDetail => ({
    ...row,
    url: `https://${row.host}/darkroom?shop=1`,
    request: {
      headers: {
        'content-type': 'application/json',
        'x-webhook-event': row.event,
        'x-timestamp': '1795273427',
        'webhook-id': `${row.creation ?? 'test'}:${row.event}`,
        'x-webhook-signature-256': 'sha256=9c1e…',
        'webhook-signature': 'v1,ab12…',
      },
      body,
    },
    response:
      row.outcome === 'delivered' || row.status !== null
        ? {
            status: row.status ?? 204,
            headers: { server: 'nginx', 'content-type': 'text/html' },
            body: row.status === 500 ? `<h1>Internal Server Error</h1>${hostile}` : '',
          }
        : null,
    can_redeliver: row.creation !== null,
  });

  const step = (
    millis: number,
    kind: view.TimelineStep['kind'],
    text: string,
    ms: number | null,
    more: Pick<view.TimelineStep, 'amount' | 'delivery'> = {},
  ): view.TimelineStep => ({ at: ago(48 * minute - millis), kind, text, ms, ...more });
  const timeline = [
    step(0, 'accepted', 'Accepted', null),
    step(0, 'charged', 'Charged', 3, { amount: -0.045 }),
    step(800, 'rendering', 'Rendering began', 797),
    step(4300, 'attempt', 'First renderer: no capacity. The next one was asked.', 3500),
    step(9100, 'stored', 'Image stored', 4800),
    step(9150, 'completed', 'Completed', 50),
    step(9900, 'webhook', 'Webhook, attempt 1: not delivered', 750, { delivery: delivery(1) }),
    step(minute, 'webhook', 'Webhook, attempt 2: delivered', 50_100, { delivery: delivery(0) }),
  ];
  const creationDetail = (row: view.CreationRow): view.CreationDetail => ({
    ...row,
    output_format: 'png',
    seed: 4711,
    metadata: { order: 4711, note: hostile },
    source_images: row.model === 'sandbox-standard' ? 1 : 0,
    results: row.result_urls.map((url) => ({
      url,
      width: 1216,
      height: 832,
      content_type: 'image/png',
      bytes: 1_204_000,
    })),
    retryable: row.status === 'failed' ? true : null,
    webhook_url: 'https://hooks.example.com/darkroom?shop=1',
    ...(row.status === 'completed' && {
      copy: {
        status: 'copied',
        attempts: 1,
        url: 'https://s3.example.com/ours/one.png',
        error: null,
      } as const,
    }),
    timeline:
      row.status === 'failed'
        ? [
            ...timeline.slice(0, 4),
            step(minute, 'failed', 'Failed: generation failed', 2100),
            step(minute, 'refunded', 'Refunded', 12, { amount: 0.045 }),
          ]
        : row.status === 'processing'
          ? timeline.slice(0, 3)
          : timeline,
    can_cancel: row.status === 'processing',
    can_redeliver: row.status !== 'processing',
    request: {
      model: row.model,
      prompt: row.prompt,
      resolution: row.resolution,
      aspect_ratio: row.aspect_ratio,
    },
  });

  type Movement = Omit<view.LedgerView, 'available'>;
  const movementOf = (
    row: view.CreationRow,
    kind: Movement['kind'],
    at: string,
    amount: number,
  ): Movement => ({
    ...{ at, kind, amount, creation: row.id, model: row.model, user: row.user, note: null },
    ...{ key: row.key.id, key_name: row.key.name },
  });
  const topUp: Movement = {
    ...{ at: ago(10 * 60 * minute), kind: 'top_up', amount: 250, note: 'Invoice 2026-1177' },
    ...{ creation: null, key: null, key_name: null, model: null, user: null },
  };
  const movements = creations.flatMap((row, index): Movement[] => [
    ...(row.amount_refunded > 0
      ? [movementOf(row, 'refund', row.completed_at ?? row.created_at, row.amount_refunded)]
      : []),
    movementOf(row, 'charge', row.created_at, -row.cost),
    ...(index === 11 ? [topUp] : []),
  ]);
  let available = 262.615;
  const ledger = movements.map((row): view.LedgerView => {
    const shown = { ...row, available };
    available = Math.round((available - row.amount) * 1e6) / 1e6;
    return shown;
  });

  const payment = (index: number, hours: number, rest: Partial<view.PaymentView>): view.PaymentView => ({
    ...{ id: `pay_${index}`, kind: 'checkout', state: 'succeeded', amount: 50, credited: 50 },
    ...{ reversed: 0, at: ago(hours * 60 * minute), has_receipt: true },
    ...rest,
  });
  const unpaid = { credited: null, has_receipt: false };
  const payments: view.PaymentView[] = [
    payment(1, 1, { ...unpaid, state: 'processing', amount: 250 }),
    payment(2, 22, { kind: 'auto' }),
    payment(3, 49, { amount: 100, credited: 100, reversed: 40 }),
    payment(4, 70, { ...unpaid, state: 'failed', amount: 12.5 }),
    payment(5, 120, { kind: 'outside', amount: 1000, credited: 1000, has_receipt: false }),
    payment(6, 190, { ...unpaid, state: 'held', amount: 30 }),
    payment(7, 200, { ...unpaid, state: 'expired', amount: 10 }),
    payment(8, 300, { reversed: 50 }),
    payment(9, 400, { ...unpaid, kind: 'auto', state: 'unknown' }),
  ];
  const autoTopUp: view.AutoTopUpView = {
    ...{ is_on: true, threshold: 20, amount: 50, monthly_cap: 200, used: 150, paused: null },
    card: {
      brand: 'visa',
      last4: '4242',
      expiry_month: 12,
      expiry_year: new Date(nowMillis).getUTCFullYear() + 1,
    },
    ...{ open_payment: null, test_mode: false, version: 3 },
  };

  const days = Array.from({ length: 30 }, (_, index) => dayText((29 - index) * day));
  const usage = (by: view.UsageView['by']): view.UsageView => {
    const groups: Readonly<Record<view.UsageView['by'], readonly string[]>> = {
      day: ['spent'],
      key: ['key_production', 'key_night', 'portal'],
      model: ['sandbox-standard', 'sandbox-sketch'],
      user: ['customer-118'.padEnd(64, '0'), 'customer-7', 'customer-2201', ''],
    };
    const spentOn = (place: number, index: number): number =>
      Math.round((4 + 3 * Math.sin(place / 2) + ((place * 7) % 5)) * 100 * (1 / (index + 1))) / 100;
    const spent = days.map((one, place) => ({
      day: one,
      spent: Object.fromEntries(groups[by].map((group, index) => [group, spentOn(place, index)])),
    }));
    const line = (group: string | null, sum: number): view.UsageLine => ({
      group,
      name: keys.find(({ id }) => id === group)?.name ?? (group === 'portal' ? 'Playground' : null),
      creations: Math.round(sum * 22),
      failed: Math.round(sum / 4),
      charged: Math.round(sum * 1.03 * 100) / 100,
      refunded: Math.round(sum * 0.03 * 100) / 100,
      spent: Math.round(sum * 100) / 100,
    });
    const lines =
      by === 'day'
        ? spent.map((one) => line(one.day, sumOf(Object.values(one.spent))))
        : groups[by].map((group) =>
            line(group === '' ? null : group, sumOf(spent.map((one) => one.spent[group] ?? 0))),
          );
    const total = sumOf(lines.map((one) => one.spent));
    const { group: _group, name: _name, ...rest } = line(null, total);
    return {
      month: { spent: 151.24, at_end: 174.117, budget: { monthly_budget: 180, version: 'v1' } },
      from: days[0] ?? '',
      to: days.at(-1) ?? '',
      by,
      lines,
      days: spent,
      total: rest,
      success_rate: 0.987,
      seconds: { p50: 4.2, p95: 11.8, of: 300 },
    };
  };

  const limits = {
    post_rate: 60,
    get_rate: 600,
    user_post_rate: 20,
    user_get_rate: 120,
    max_concurrent: 20,
    deadline_seconds: 300,
    max_unused_uploads: 100,
  };
  const account: view.AccountView = {
    id: 'acc_7Yt2mQ9xZk',
    name: 'Nordlicht Prints',
    condition: 'active',
    created_at: ago(200 * day),
    limits,
    in_flight: 1,
    service: { open_creations: 37, capacity: 5000, is_closed: false },
    models,
  };

  const me: view.MeView = {
    person: { id: 'per_1', email: 'owner@nordlicht.example', signed_in_at: ago(3 * minute) },
    account: { id: account.id, name: account.name, role: 'owner', condition: 'active' },
    accounts: [{ id: account.id, name: account.name, role: 'owner' }],
    is_operator: true,
    fresh_until: inFuture(12 * minute),
    service: {
      api_url: 'https://api.example.com/api/public/v1',
      openai_url: 'https://api.example.com/openai/v1',
      mcp_url: 'https://api.example.com/mcp',
      payment_url: null,
      takes_payments: true,
      contact: 'Write to support@example.com.',
      credentials_url: 'https://sign-in.example.com/passkeys/add',
      inbox_url: 'https://hooks.example.com/darkroom',
      closed_message: null,
    },
  };

  const home: view.HomeView = {
    available: 262.615,
    balance: 212.615,
    credit_line: 50,
    in_flight: 1,
    max_concurrent: 20,
    spent_today: 7.53,
    spent_this_month: 231.325,
    monthly_budget: 180,
    creations: creations.slice(0, 10),
    failing_webhooks: 3,
    failed_webhooks: 1,
    keys_near_cap: keys.slice(0, 1),
    steps: { has_key: true, has_creation: true, has_webhook_secret: true, has_delivery: true },
  };

  const person = { is_you: false, key_cap: null, version: 'v1' };
  const people: view.PeopleView = {
    people: [
      {
        ...{ ...person, id: 'per_1', email: 'owner@nordlicht.example', role: 'owner', is_you: true },
        ...{ since: ago(200 * day), last_sign_in_at: ago(3 * minute) },
      },
      {
        ...{ ...person, id: 'per_2', email: 'developer@nordlicht.example', role: 'developer', key_cap: 50 },
        ...{ since: ago(40 * day), last_sign_in_at: ago(2 * day) },
      },
      {
        ...{ ...person, id: 'per_3', email: 'bookkeeping@nordlicht.example', role: 'viewer' },
        ...{ since: ago(12 * day), last_sign_in_at: null },
      },
    ],
    invitations: [
      {
        id: 'inv_1',
        email: 'new@nordlicht.example',
        role: 'developer',
        invited_at: ago(day),
        invited_by: 'owner@nordlicht.example',
        expires_at: inFuture(13 * day),
      },
    ],
  };

  const [invitation] = people.invitations;
  if (!invitation) throw new Error('there is no invitation');
  const invited: view.InvitedView = {
    ...invitation,
    mail: 'sent',
    sign_in_at: 'https://portal.nordlicht.example/',
  };

  const actions: view.ActionView[] = [
    ['createKey', 'key_night', 'done', 'Night batch'],
    ['changeKey', 'key_night', 'done', 'name, monthly_cap'],
    ['revealSecret', null, 'done', null],
    ['revokeKey', 'key_old', 'done', 'Prototype of last year'],
    ['invitePerson', 'inv_1', 'refused', hostile],
    ['rotateSecret', null, 'begun', null],
  ].map(([action, target, outcome, note], index): view.ActionView => ({
    id: `action_${index}`,
    at: ago((index + 1) * 41 * minute),
    email: 'owner@nordlicht.example',
    action: action ?? '',
    target: target ?? null,
    outcome: outcome as view.ActionView['outcome'],
    note: note ?? null,
  }));

  const operated: view.OperatedAccount[] = [
    ['acc_7Yt2mQ9xZk', 'Nordlicht Prints', 'active', 262.615, 3],
    ['acc_2b8KqLw0Ts', 'Atelier Nord', 'active', 18.2, 0],
    ['acc_9PfXe71dRv', 'Old Mill Studio', 'suspended', -4.1, 0],
  ].map(([id, name, condition, sum, failing]): view.OperatedAccount => ({
    id: String(id),
    name: String(name),
    condition: condition as view.OperatedAccount['condition'],
    available: Number(sum),
    balance: Number(sum) - 50,
    credit_line: 50,
    in_flight: 1,
    limits,
    webhook_failures: Number(failing),
    results: failing === 0 ? null : 'signed',
    results_minutes: failing === 0 ? null : 90,
    results_of_service: 'unguessable',
    created_at: ago(200 * day),
    version: 'v1',
  }));

  const failingWebhooks: view.FailingWebhook[] = [1, 5].map((index) => ({
    account: 'acc_7Yt2mQ9xZk',
    account_name: 'Nordlicht Prints',
    creation: creationIds[index] ?? null,
    host: 'hooks.staging.example.com',
    attempts: 3,
    next_attempt_at: inFuture(index * 9 * minute),
  }));

  const nothing = { succeeded: 0, failed: 0, p50_seconds: null, p50_cost: null };
  const idle: view.ProviderView = {
    ...{ name: 'bedrock', enabled: false, paused_since: null, pause_reason: null, outcomes: {}, routes: [] },
    hour: { ...nothing, declined: 0, parts: Array.from({ length: 12 }, () => nothing) },
    day: { ...nothing, declined: 0, parts: Array.from({ length: 24 }, () => nothing) },
  };
  /** Of a part or of all of them. Each tenth attempt of the second half fails. */
  const attemptsOf = (count: number, failed: number): view.AttemptFigures => ({
    ...{ succeeded: count - failed, failed, p50_seconds: 1.2 + failed / 4, p50_cost: 0.021 },
  });
  const spanOf = (parts: number, each: number, failed: number): view.ProviderSpan => ({
    ...attemptsOf(parts * each, (parts / 2) * failed),
    declined: failed === 0 ? 0 : 2,
    parts: Array.from({ length: parts }, (_, place) =>
      place === 3 ? nothing : attemptsOf(each, place < parts / 2 ? 0 : failed),
    ),
  });
  const route = { quality: null, open_since: null, paused_since: null, usual_seconds: 1.2 };
  const providers: view.ProvidersView = {
    creations: 412,
    since: ago(day),
    data: [
      {
        ...{ ...idle, name: 'sandbox', enabled: true, hour: spanOf(12, 9, 0), day: spanOf(24, 40, 0) },
        routes: [
          { ...route, model: 'sketch' },
          { ...route, model: 'standard', paused_since: ago(20 * minute) },
        ],
      },
      {
        ...{ ...idle, name: 'fal', enabled: true, paused_since: ago(40 * minute) },
        ...{ pause_reason: 'answers with 500', hour: spanOf(12, 8, 2), day: spanOf(24, 20, 3) },
        outcomes: { unavailable: 36 },
        routes: [{ ...route, model: 'fal-ai/flux-2-pro', open_since: ago(50 * minute) }],
      },
      ...['bedrock', 'openai', 'google'].map((name) => ({ ...idle, name })),
    ],
  };

  const statement: view.StatementView = {
    month: '2026-11',
    months: ['2026-11', '2026-10'],
    account: { id: 'acc_7Yt2mQ9xZk', name: 'Nordlicht Prints' },
    is_final: false,
    until: ago(5 * minute),
    opening_balance: 100,
    charges: [
      { model: 'sandbox-standard', count: 300, amount: -13.5 },
      { model: 'sandbox-sketch', count: 120, amount: -1.2 },
    ],
    charged: -14.7,
    refunds: [{ model: 'sandbox-standard', count: 2, amount: 0.09 }],
    refunded: 0.09,
    others: [{ kind: 'top_up', amount: 50 }],
    movements: [{ at: ago(day), kind: 'top_up', amount: 50, note: '=HYPERLINK("https://evil.test")' }],
    closing_balance: 135.39,
  };

  const service: view.ServiceView = {
    open_circuits: [{ provider: 'fal', model: 'fal-ai/flux-2-pro', quality: null, since: ago(50 * minute) }],
    pauses: [
      {
        ...{ provider: 'fal', model: null, quality: null, since: ago(40 * minute) },
        reason: 'answers with 500',
      },
    ],
    failing_webhooks: 2,
    open: {
      count: 31,
      has_all: true,
      bands: [
        { from_seconds: 0, to_seconds: 60, count: 22 },
        { from_seconds: 60, to_seconds: 300, count: 7 },
        { from_seconds: 300, to_seconds: 720, count: 1 },
        { from_seconds: 720, to_seconds: null, count: 1 },
      ],
      oldest: [2, 3].map((index) => ({
        ...{ id: creationIds[index] ?? '', account: 'acc_7Yt2mQ9xZk', account_name: 'Nordlicht Prints' },
        ...{ model: 'sandbox-standard', status: 'processing' as const, created_at: ago(16 * minute) },
        ...{ is_overdue: index === 2, provider: index === 2 ? 'fal' : null },
      })),
      overdue: 1,
    },
  };
  const found = (text: string): view.FoundView => {
    const own = { account: 'acc_7Yt2mQ9xZk', account_name: 'Nordlicht Prints' };
    const all: view.FoundThing[] = [
      { kind: 'account', id: 'acc_7Yt2mQ9xZk', name: 'Nordlicht Prints', ...own },
      { kind: 'creation', id: creationIds[1] ?? '', name: 'sandbox-standard, completed', ...own },
      { kind: 'key', id: 'Ab12Cd', name: 'Web shop, production', ...own },
      { kind: 'person', id: 'person_1', name: 'ada@nordlicht.example', ...own },
    ];
    const wanted = text.toLowerCase();
    return {
      data: all.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted)),
      has_all: false,
    };
  };
  const operatedCreation = (row: view.CreationRow): view.OperatedCreation => ({
    ...creationDetail(row),
    ...{ account: 'acc_7Yt2mQ9xZk', account_name: 'Nordlicht Prints', request_id: 'req_5f0b7c1e' },
    deadline_at: inFuture(4 * minute),
    attempts: [
      {
        ...{ provider: 'fal', model: 'fal-ai/flux-2-pro', started_at: ago(3 * minute), ms: 4210 },
        ...{ outcome: 'unavailable', detail: hostile, cost: null },
      },
      {
        ...{ provider: 'sandbox', model: 'standard', started_at: ago(2 * minute), ms: 1210 },
        ...{ outcome: 'rendered', detail: null, cost: 0.021 },
      },
    ],
  });

  const operatorKey = {
    ...{ scopes: ['accounts:read'], from: null, daily_credit_cap: null, credited_today: 0, post_rate: 120 },
    ...{ get_rate: 600, expires_at: inFuture(200 * day), created_at: ago(165 * day) },
    ...{ last_used_at: null, revoked_at: null },
  };
  const operatorKeys: view.OperatorKeyView[] = [
    {
      ...{ ...operatorKey, id: 'Kq81xWz0Ab', name: 'Billing of the web shop', last_used_at: ago(minute) },
      ...{ scopes: ['accounts:read', 'wallet:credit'], from: ['203.0.113.0/24', '2001:db8::/32'] },
      ...{ daily_credit_cap: 2000, credited_today: 1730.5 },
    },
    { ...operatorKey, id: 'Mn40bTr7Qc', name: hostile, credited_today: 12 },
    { ...operatorKey, id: 'Pp00aaa0Aa', name: 'Trial of spring', revoked_at: ago(40 * day) },
  ];

  const rest = {
    ...{ cost_unknown: 0, revenue_cost_unknown: 0, unclear: 0, unclear_cost: 0, billed: 0, billed_cost: 0 },
    ...{ billed_catalog_cost: 0, billed_difference: 0, billed_difference_percent: null },
  };
  const [firstPayment] = payments;
  const heldPayments: view.HeldPaymentView[] = firstPayment
    ? [{ ...firstPayment, state: 'held', credited: null, account: 'Ab12Cd34Ef', account_name: hostile }]
    : [];
  const margin: view.MarginView = {
    from: days[0] ?? '',
    to: days.at(-1) ?? '',
    by: 'model',
    lines: [
      {
        ...{ ...rest, group: 'sandbox-standard', creations: 4100, failed: 41 },
        ...{ revenue: 184.5, provider_cost: 98.4, margin: 86.1, margin_percent: 46.7 },
      },
      {
        ...{ ...rest, group: 'sandbox-sketch', creations: 2200, failed: 12 },
        ...{ revenue: 22, provider_cost: 4.4, margin: 17.6, margin_percent: 80 },
      },
    ],
    total: {
      ...{ ...rest, creations: 6300, failed: 53 },
      ...{ revenue: 206.5, provider_cost: 102.8, margin: 103.7, margin_percent: 50.2 },
    },
    money_in: { payments: 310, top_ups: 50, reversed: 25 },
  };

  const endpoint = (index: number, rest: Partial<view.EndpointRow>): view.EndpointRow => ({
    ...{
      id: `we_4nUc0Za7BpQ3x${index}`,
      url: `https://hooks.example.com/darkroom/${index}`,
      description: '',
    },
    ...{ events: ['creation.completed', 'creation.failed'], enabled: true, disabled_reason: null },
    ...{ created_at: ago(20 * day), failing_since: null, delivered: 118, failed: 2, last_failure: null },
    ...rest,
  });
  const endpoints: view.EndpointsView = {
    data: [
      endpoint(1, { description: 'orders', last_failure: { at: ago(90 * minute), reason: 'No answer.' } }),
      endpoint(2, {
        ...{ events: ['wallet.low', 'endpoint.failing'], enabled: false, disabled_reason: 'failing' },
        ...{ failing_since: ago(6 * day), delivered: 0, failed: 0 },
      }),
    ],
    samples: Object.fromEntries(
      endpointEvents.map((event) => [event, sampleBody(event, new Date(nowMillis).toISOString())]),
    ),
    limit: 10,
  };
  const webhooks: view.WebhooksView = {
    secrets: [
      { issued_at: ago(60 * minute), state: 'signs', signs_from: ago(60 * minute), valid_until: null },
      {
        issued_at: ago(90 * day),
        state: 'replaced',
        signs_from: ago(90 * day),
        valid_until: inFuture(23 * 60 * minute),
      },
    ],
    test_after_seconds: 0,
  };

  return {
    keys,
    tokens,
    operatorKeys,
    models,
    creations,
    creationDetail,
    deliveries,
    requests,
    deliveryDetail,
    ledger,
    payments,
    heldPayments,
    autoTopUp,
    usage,
    account,
    me,
    home,
    people,
    invited,
    actions,
    operated,
    failingWebhooks,
    service,
    statement,
    operatedCreation,
    found,
    providers,
    margin,
    webhooks,
    endpoints,
    secret: {
      secret: 'whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0OiAzMiBiLiE=',
      issued_at: ago(60 * minute),
      signs_from: ago(60 * minute),
    } satisfies view.SecretView,
    alerts: {
      notice_url: 'https://hooks.example.com/notices',
      low_balance: 25,
      version: 'v1',
    } satisfies view.AlertsView,
    emails: {
      state: 'waiting',
      words:
        'Waiting for your confirmation: open the link in the e-mail to mira@studio.example. Save sends it again.',
      choices: [
        { notice: 'wallet.low', label: 'The balance is low', is_chosen: true },
        {
          notice: 'budget.reached',
          label: 'The budget of the month is spent to 80 % or 100 %',
          is_chosen: false,
        },
      ],
    } satisfies view.EmailsView,
    uploadUntil: inFuture(15 * minute),
  };
}

export type Samples = ReturnType<typeof samplesAt>;
