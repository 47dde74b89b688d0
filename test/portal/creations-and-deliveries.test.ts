/** Creations with their timelines, and the log of deliveries, as the portal shows them. */
import { describe, expect, it } from 'vitest';
import type * as views from '../../service/contract/portal-views.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import type { CreationRecord, RouteAttempt } from '../../service/creations/creation.ts';
import { getPortalCreation, listPortalCreations } from '../../service/portal/read/creations.ts';
import { getDelivery, getWebhooks, listDeliveries } from '../../service/portal/read/webhooks.ts';
import type { AccountId, CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, aCompletedCreation, aCreation, anAccount, now } from '../fixtures/records.ts';
import { problemOf } from './portal-fixture.ts';
import { aCaller, ask, bodyOf, idAt, log, openBeforeEach, stored, table } from './read-fixture.ts';

openBeforeEach();
const endpointId = 'we_4nUc0Za7BpQ3xT';

describe('creations', () => {
  const put = (millis: number, digit: number, change: Partial<CreationRecord> = {}): Promise<void> =>
    stored(
      creationToItem(
        aCreation({
          id: idAt(millis, digit) as CreationId,
          createdAt: new Date(millis).toISOString(),
          ...change,
        }),
      ),
    );
  const day = 86_400_000;

  it.each<[Record<string, string>, number]>([
    [{}, 5],
    [{ status: 'failed' }, 1],
    [{ key: 'Key002' }, 1],
    [{ model: 'other' }, 1],
    [{ user: 'ann' }, 1],
    [{ day: '2026-11-20' }, 2],
    [{ day: '2026-11-20', user: 'ann' }, 1],
    [{ day: '2026-11-19' }, 0],
  ])('The filter %j finds the creations that fit', async (query, count) => {
    const midnight = Date.UTC(2026, 10, 21);
    await put(midnight - day, 1, { user: 'ann' });
    await put(midnight - 1, 2, { status: 'failed' });
    await put(midnight, 3, { keyId: 'Key002' as CreationRecord['keyId'] });
    await put(midnight + 1, 4, { model: 'other' });
    await put(midnight + 2, 5);
    const { data } = (await bodyOf(listPortalCreations, { query })) as { data: views.CreationRow[] };
    expect(data).toHaveLength(count);
  });

  it('Pages of a day end with the day', async () => {
    const midnight = Date.UTC(2026, 10, 21);
    for (let number = 0; number < 5; number += 1) await put(midnight - 5 + number, number);
    await put(midnight, 9);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query = { day: '2026-11-20', limit: '2', ...(cursor !== null && { cursor }) };
      const page: views.PageView<views.CreationRow> = (await bodyOf(listPortalCreations, {
        query,
      })) as views.PageView<views.CreationRow>;
      seen.push(...page.data.map(({ created_at: at }) => at));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual([5, 4, 3, 2, 1].map((number) => new Date(midnight - 6 + number).toISOString()));
  });

  it.each(['limit=x', 'cursor=x', 'status=x', 'model=', 'key=x', 'user=', 'day=x'])(
    'The parameter %s is refused',
    async (text) => {
      const query = Object.fromEntries(new URLSearchParams(text));
      expect(await problemOf(ask(listPortalCreations, { table }, { query }))).toMatchObject({
        details: { errors: [{ field: text.split('=')[0] }] },
      });
    },
  );

  it('The timeline has money, renderers without names, the end and every attempt of the webhook', async () => {
    const at = (millis: number): string => new Date(now + millis).toISOString();
    const tried = (provider: string, from: number, outcome: RouteAttempt['outcome']): RouteAttempt => ({
      ...{
        provider,
        providerModel: 'vendor-model',
        startedAt: at(from),
        endedAt: at(from + 500),
        resultKey: 'k',
      },
      ...(outcome && { outcome, detail: `${provider} said no` }),
    });
    const lastAttempt = idAt(now + 70_000, 2);
    const creation = aCompletedCreation({
      attempts: [
        tried('openai', 1_000, 'unavailable'),
        tried('fal', 2_000, 'no_answer'),
        tried('openai', 3_000, 'rendered'),
      ],
      copy: { status: 'failed', attempts: 5, url: null, error: 'the bucket answered 403 AccessDenied' },
      webhook: {
        url: 'https://hooks.test/a',
        status: 'delivered',
        attempts: 2,
        nextAt: 0,
        claimedBy: lastAttempt,
        body: '{}',
      },
    });
    await stored(creationToItem(creation));
    await log({ creationId: creation.id, outcome: 'failed', status: 503, startedAt: at(4_100) });
    await log({
      creationId: creation.id,
      outcome: 'delivered',
      status: 200,
      startedAt: at(70_000),
      attempt: 2,
      id: lastAttempt,
    });
    await log({ startedAt: at(5_000), attempt: 9 });
    const view = (await bodyOf(getPortalCreation, { pathId: creation.id })) as views.CreationDetail;
    expect(view.timeline.map(({ kind, ms, text }) => `${kind} ${ms} ${text}`)).toEqual([
      'accepted null Accepted, and waits for a renderer.',
      'charged 0 Charged to the key “server”.',
      'rendering 1000 Rendering began.',
      'attempt 0 The first renderer was asked.',
      'attempt 500 The first renderer was not available.',
      'attempt 500 The second renderer was asked.',
      'attempt 500 The second renderer did not answer in time.',
      'attempt 500 The first renderer was asked.',
      'attempt 500 The first renderer delivered an image.',
      'stored 500 The image was stored.',
      'completed 0 Completed.',
      'webhook 100 Attempt 1 of 5 of the webhook was not delivered to hooks.test: The receiver answered 503: it failed. Look into its log at the time of the attempt.',
      'webhook 65900 Attempt 2 of 5 of the webhook was delivered to hooks.test.',
    ]);
    expect(view).toMatchObject({
      look_after_seconds: null,
      can_cancel: false,
      can_redeliver: true,
      results: [{ width: 1024 }],
      copy: { status: 'failed', attempts: 5, url: null, error: 'the bucket answered 403 AccessDenied' },
    });
    expect(view.timeline[1]).toMatchObject({ amount: -0.04 });
    expect(JSON.stringify(view)).not.toMatch(/openai|fal\b|vendor|said no|providerCost/);
    expect(view.request).toEqual({
      ...{ model: 'sandbox-standard', prompt: 'a quiet lake', resolution: '1K', aspect_ratio: '1:1' },
      ...{ output_format: 'png', webhook_url: 'https://hooks.test/a' },
    });
  });

  it('A failed creation says in words what happened, whether to retry, and what was given back', async () => {
    const failed = aCreation({
      ...{ status: 'failed', failure: 'PromptRejected', completedAt: new Date(now + 9).toISOString() },
      refundedMicros: asMicros(40_000),
    });
    await stored(creationToItem(failed));
    const { timeline, retryable } = (await bodyOf(getPortalCreation, {
      pathId: failed.id,
    })) as views.CreationDetail;
    expect(timeline.slice(-2)).toMatchObject([
      { kind: 'failed', text: expect.stringContaining('will fail again: change it first.') as string },
      { kind: 'refunded', amount: 0.04 },
    ]);
    expect(retryable).toBe(false);
  });
});

describe('webhooks and deliveries', () => {
  it('Secrets are shown with their states, and never themselves', async () => {
    const account = anAccount({
      webhookSecrets: [
        { sealed: 'sealed-2', issuedAt: now - 10_000, signsFrom: now + 3_600_000 },
        { sealed: 'sealed-1', issuedAt: now - 90_000, replacedAt: now + 3_600_000 },
      ],
    });
    await stored({ pk: `ACCOUNT#${accountId}`, sk: 'TEST_DELIVERY', lastAt: now - 12_500 });
    const view = (await bodyOf(getWebhooks, { account })) as views.WebhooksView;
    expect(view.secrets.map(({ state, valid_until: until }) => [state, until])).toEqual([
      ['signs_later', null],
      ['signs', new Date(now + 3_600_000 + 86_400_000).toISOString()],
    ]);
    expect(view.test_after_seconds).toBe(18);
    expect(JSON.stringify(view)).not.toContain('sealed');
  });

  it('The log is the newest first, in pages, and by outcome and creation', async () => {
    const other = idAt(now - 80_000, 7) as CreationId;
    for (let number = 0; number < 6; number += 1)
      await log({
        startedAt: new Date(now - 1_000 * number).toISOString(),
        ...(number !== 5 && { outcome: number % 2 === 0 ? 'failed' : 'delivered' }),
        ...(number > 3 && { creationId: other }),
        ...(number % 3 === 0 && { endpointId }),
      });
    const list = (query: Record<string, string>) =>
      bodyOf(listDeliveries, { query }) as Promise<views.PageView<views.DeliveryRow>>;
    const first = await list({ limit: '4' });
    const rest = await list({ limit: '4', cursor: first.next_cursor ?? '' });
    expect([first.data.length, rest.data.length, rest.next_cursor]).toEqual([4, 2, null]);
    expect([...first.data, ...rest.data].map(({ at }) => Date.parse(at))).toEqual(
      [0, 1, 2, 3, 4, 5].map((number) => now - 1_000 * number),
    );
    const counts = await Promise.all(
      [
        ...[{ outcome: 'failed' }, { outcome: 'delivered' }, { outcome: 'unknown' }, { creation: other }],
        ...[
          { endpoint: endpointId },
          { endpoint: endpointId, outcome: 'failed' },
          { endpoint: `${endpointId.slice(0, -1)}0` },
        ],
      ].map((query) => list(query)),
    );
    expect(counts.map(({ data }) => data.length)).toEqual([3, 2, 1, 2, 2, 1, 0]);
    expect(counts[4]?.data.map(({ endpoint }) => endpoint)).toEqual([endpointId, endpointId]);
    const failedPage = await list({ outcome: 'failed', limit: '2' });
    const failedRest = await list({ outcome: 'failed', limit: '2', cursor: failedPage.next_cursor ?? '' });
    expect([failedPage.data.length, failedRest.data.length]).toEqual([2, 1]);
  });

  it('A delivery has the exact body, and that of another account is absent', async () => {
    const body = '{"event":"creation.completed","metadata":{"a":"<script>"}}';
    const webhook = { url: 'https://hooks.test/a', status: 'failed' as const, attempts: 5, nextAt: 0, body };
    const creation = aCompletedCreation({ webhook });
    await stored(creationToItem(creation));
    const row = await log({ creationId: creation.id, outcome: 'failed', status: 500 });
    const view = (await bodyOf(getDelivery, { pathId: row.id })) as views.DeliveryDetail;
    expect([view.request.body, view.can_redeliver]).toEqual([body, true]);
    const foreign = aCaller(anAccount({ id: 'Acc0unt002' as AccountId }));
    for (const [caller, pathId] of [
      [foreign, row.id],
      [aCaller(), 'nonsense'],
    ] as const)
      expect(await problemOf(ask(getDelivery, { table, caller }, { pathId }))).toMatchObject({ status: 404 });
  });

  it.each(['limit=0', 'cursor=x', 'outcome=lost', 'creation=x', 'endpoint=x'])(
    'The parameter %s is refused',
    async (text) => {
      const query = Object.fromEntries(new URLSearchParams(text));
      expect(await problemOf(ask(listDeliveries, { table }, { query }))).toMatchObject({ status: 400 });
    },
  );
});
