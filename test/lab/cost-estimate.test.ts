/** The calculator of `npm run cost`, and the parts of docs/cost.md that are computed from its measured counts. */
import { describe, expect, it } from 'vitest';
import { orderOf } from '../../lab/cost/command.ts';
import { committedCounts, creationKinds } from '../../lab/cost/counts.ts';
import {
  estimate,
  kindOf,
  type Order,
  pollBill,
  pollsAt,
  pollsUntil,
  vendorNames,
} from '../../lab/cost/estimate.ts';
import { billOf, priceList, totalOf } from '../../lab/cost/prices.ts';
import { memoryOf, resourceBill, standingResources } from '../../lab/cost/standing.ts';
import { systemClock } from '../../service/aws/clock.ts';
import catalog from '../../service/catalog/models.json' with { type: 'json' };
import { isBuiltIn } from '../../service/catalog/providers.ts';
import { createVendors } from '../../service/vendors/vendors.ts';
import { readPage, sectionOf, tableRows } from '../docs/pages.ts';

const page = readPage('docs/cost.md');
const { kinds } = committedCounts;
const report = { kinds, memory: await memoryOf() };

const order: Order = { creations: 1000, seconds: 15, vendor: 'openai', following: 'webhook' };
const perThousand = (change: Partial<Order> = {}): number =>
  totalOf(estimate({ ...order, ...change }, report).perThousand);

describe('the kind of each vendor', () => {
  it('Every provider of the catalog is known', () => {
    const used = new Set(catalog.models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
    expect([...used].filter((name) => !isBuiltIn(name))).toEqual([]);
  });

  it.each(vendorNames)(
    '%s calls back if its adapter says so, and can be asked about a job that it has',
    async (name) => {
      const adapters = createVendors({
        credentials: { read: async () => Promise.resolve(undefined), forget: () => undefined },
        clock: systemClock,
        baseUrls: {},
        bedrockRegion: 'us-east-1',
      });
      const kind = kindOf(name);
      const adapter = await adapters.get(name);
      expect(kind === 'callback').toBe(adapter?.callback !== undefined);
      if (kind !== 'synchronous') expect(adapter).toHaveProperty('poll', expect.any(Function));
    },
  );
});

describe('the calculator', () => {
  it('The counts that it reads give the totals of the page', () => {
    const totals = tableRows(sectionOf(page, '## 1,000 creations')).at(-1) ?? [];
    expect(totals.slice(1).map((cell) => cell.replaceAll('*', ''))).toEqual(
      creationKinds.map((kind) => totalOf(billOf(kind, report)).toFixed(4)),
    );
  });

  it('A vendor that calls back costs the same after 60 s as after 15 s', () => {
    expect(perThousand({ vendor: 'fal', seconds: 60 })).toBe(perThousand({ vendor: 'fal' }));
  });

  it('A renderer that waits 45 s longer is billed for the time of its memory and 19 renewals', () => {
    const more = 45 * 0.25 * 0.0133334 + 19 * 0.000625;
    expect(perThousand({ seconds: 60 }) - perThousand()).toBeCloseTo(more, 6);
  });

  it('A job that is asked about takes one write more than a call that is answered', () => {
    expect(perThousand({ vendor: 'bfl' }) - perThousand()).toBeCloseTo(0.000625, 9);
  });

  it.each<[string, Partial<Order>]>([
    ['a larger renderer', { renderer: 'RenderImageLarge' }],
    ['a larger picture', { megabytes: 3 }],
    ['polls in place of a webhook, after a minute', { seconds: 60, following: 'polls' }],
  ])('%s costs more', (_what, change) => {
    expect(perThousand(change)).toBeGreaterThan(perThousand({ seconds: change.seconds ?? 15 }));
  });

  it('A client that polls pays for as many polls as the pace of the service makes', () => {
    const { polls, perThousand: parts } = estimate({ ...order, following: 'polls' }, report);
    expect(polls).toBe(pollsUntil(15));
    expect(parts['Polls']).toBeCloseTo(5 * pollBill(report), 9);
  });

  it('All creations cost as many thousands as they are', () => {
    expect(estimate({ ...order, creations: 2500 }, report).all).toBeCloseTo(2.5 * perThousand(), 9);
  });

  it('The options name an order, and those that are absent have a usual value', () => {
    expect(orderOf({ vendor: 'fal' })).toEqual({
      vendor: 'fal',
      creations: 1000,
      seconds: 15,
      following: 'webhook',
      renderer: 'RenderImageSmall',
    });
    const all = { vendor: 'bfl', creations: '7', seconds: '2.5', polls: true, picture: '4K', megabytes: '9' };
    expect(orderOf(all)).toEqual({
      vendor: 'bfl',
      creations: 7,
      seconds: 2.5,
      following: 'polls',
      renderer: 'RenderImageLarge',
      megabytes: 9,
    });
  });

  it.each([
    [{}, '--vendor: name one of sandbox,'],
    [{ vendor: 'nobody' }, '--vendor: name one of'],
    [{ vendor: 'fal', creations: 'many' }, '--creations: "many" must be a number of at least 1.'],
    [{ vendor: 'fal', seconds: '-1' }, '--seconds: "-1" must be a number of at least 0.'],
    [{ vendor: 'fal', webhook: true, polls: true }, '--webhook and --polls exclude each other.'],
    [{ vendor: 'fal', picture: '8K' }, '--picture: name one of 1K, 2K, 4K, sources.'],
    [{ vendor: 'fal', write: true }, '--measured, --stored and --write go with no option of an estimate.'],
    [{ vendor: 'fal', stored: true }, '--measured, --stored and --write go with no option of an estimate.'],
    [{ vendor: 'fal', measured: '3' }, '--measured, --stored and --write go with no option of an estimate.'],
  ])('The options %o are refused with the sentence "%s"', (options, sentence) => {
    expect(() => orderOf(options)).toThrow(sentence);
  });
});

describe('the polls of a client', () => {
  it.each([
    [1, 1],
    [2, 1],
    [5, 3],
    [15, 5],
    [60, 10],
  ])('A client that obeys polls a rendering of %i s %i times', (seconds, polls) => {
    expect(pollsUntil(seconds)).toBe(polls);
  });

  it('Nobody polls more often than at a fixed pace of 2 s, also while the usual time is unknown', () => {
    for (const seconds of [2, 5, 10, 15, 30, 60, 120, 300])
      for (const isKnown of [true, false])
        expect(pollsUntil(seconds, isKnown)).toBeLessThanOrEqual(pollsAt(2, seconds) + 1);
  });
});

describe('the prices of the committed docs/cost.md', () => {
  it('An alarm is billed by the metrics that it watches, which are more than the alarms', async () => {
    const { alarms, alarmMetrics, ...rest } = await standingResources();
    expect(alarmMetrics).toBeGreaterThan(alarms);
    const bill = resourceBill({ ...rest, alarms: 2, alarmMetrics: 11 });
    expect(bill['2 alarms, which watch 11 metrics']).toBeCloseTo(1.1, 9);
  });

  it('Each price names a page of AWS', () => {
    for (const { usd, page: source } of Object.values(priceList)) {
      expect(usd).toBeGreaterThan(0);
      expect(source).toMatch(/^https:\/\/aws\.amazon\.com\/[\w/-]+\/$/);
    }
  });
});
