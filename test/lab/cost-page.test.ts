/** docs/cost.md stays the same from run to run while nothing has changed, and agrees with the template. */
import { describe, expect, it } from 'vitest';
import { thumbnailsBill, thresholdChecks, oneMoreItemBill, prices, waitFor } from '../../lab/cost/prices.ts';
import { committedCounts, type CreationCount, keepFigures, type Measured } from '../../lab/cost/counts.ts';
import { type CostReport, figuresInText, successAfter, withTables } from '../../lab/cost/page.ts';
import { memoryOf, standingOf } from '../../lab/cost/standing.ts';
import { formattedPage } from '../../lab/formatted-page.ts';
import { readPage, sectionOf, tableRows } from '../docs/pages.ts';

const memory = {
  GenerateImage: 512,
  RenderImage: 1024,
  RenderImageSmall: 256,
  RenderImageLarge: 576,
  Reconcile: 256,
};

/** A measurement whose CPU times and log bytes are this many times the usual ones. */
function measured(cpuTimes = 1, bytesTimes = 1, writeUnits = 12): Measured {
  const count: CreationCount = {
    functions: {
      GenerateImage: {
        invocations: 1,
        cpuMillis: 10.04 * cpuTimes,
        readUnits: 5,
        writeUnits,
        calls: { 'dynamodb BatchGetItem': 1 },
      },
      RenderImageSmall: {
        invocations: 1,
        cpuMillis: 80.02 * cpuTimes,
        readUnits: 0,
        writeUnits: 7,
        calls: { 'dynamodb UpdateItem': 2 },
      },
    },
    transitions: 2,
    logBytes: 2000.3 * bytesTimes,
    storedBytes: 1500.2 * bytesTimes,
  };
  const kinds = {
    success: count,
    'success, webhook': count,
    'success, webhook, Idempotency-Key': count,
    'success, webhook, callback': count,
    'failure, webhook': count,
    poll: count,
  };
  return { kinds, reconciler: { ...count, transitions: 0 } };
}

const page = readPage('docs/cost.md');

/** USD for 1,000: the two PUTs of the thumbnails, and the most that the rest of them may cost. */
const thumbnailPuts = 0.01;
const thumbnailsMost = 0.003;

/** The page of these counts. */
function pageOf({ kinds, reconciler }: Measured): string {
  const resources = {
    alarms: 1,
    alarmMetrics: 2,
    reconcilerMetrics: 5,
    auditMetrics: 2,
    dashboards: 1,
    secrets: 1,
    schedules: 2,
    ownKeys: 0,
  };
  return withTables(page.text, { kinds, memory, standing: { resources, reconciler, memory } });
}

const first = keepFigures(measured());

describe('the price of the thumbnails', () => {
  it('They cost two PUTs, which the page lists separately, and at most 0.003 USD for 1,000 besides', () => {
    expect(thumbnailPuts).toBeCloseTo(1000 * 2 * prices.objectPut, 9);
    const rows = tableRows(sectionOf(page, '## 1,000 creations'));
    expect(rows.find(([part]) => part === 'Storing its thumbnails')?.slice(1, 4)).toEqual(
      Array(3).fill(thumbnailPuts.toFixed(4)),
    );
    // Two write units, 65 ms at 256 of 1,769 MB, and 46 ms of calls.
    const expected = 1000 * (2 * (0.625 / 1e6) + (0.065 * (1769 / 256) + 0.046) * 0.25 * 0.0000133334);
    expect(thumbnailsBill({ RenderImageSmall: 256 })).toBeCloseTo(expected, 9);
    expect(expected).toBeLessThanOrEqual(thumbnailsMost);
  });
});

describe('the price of a check of thresholds', () => {
  it('The page says what a thousand checks cost: two read units and 6 ms of DeliverWebhook each', () => {
    const expected = 1000 * (2 * (0.125 / 1e6) + 0.006 * (256 / 1024) * 0.0000133334);
    expect(thresholdChecks({ DeliverWebhook: 256 })).toBeCloseTo(expected, 12);
    expect(page.text).toContain(`${expected.toFixed(6)} USD for 1,000`);
  });
});

describe('the page that npm run cost writes', () => {
  it.each([
    ['all CPU times are 1.9 times as long', measured(1.9)],
    ['all CPU times are 0.6 times as long', measured(0.6)],
    ['the log bytes are 4 % more', measured(1, 1.04)],
    ['the log bytes are 4 % fewer', measured(1, 0.96)],
  ])('is the same as the committed page when %s', (_what, run) => {
    expect(pageOf(keepFigures(run, first))).toBe(pageOf(first));
  });

  it.each([
    ['all CPU times are 2.1 times as long', measured(2.1)],
    ['all CPU times are 0.4 times as long', measured(0.4)],
    ['the log bytes are 6 % more', measured(1, 1.06)],
    ['a call writes one unit more', measured(1, 1, 13)],
  ])('is a new page when %s', (_what, run) => {
    const second = keepFigures(run, first);
    expect(pageOf(second)).not.toBe(pageOf(first));
    expect(pageOf(keepFigures(run, second))).toBe(pageOf(second));
  });

  it('keeps a CPU time that differs by less than 2 ms, although it is less than half', () => {
    const short = (cpuMillis: number): Measured => {
      const run = measured();
      const one = { invocations: 1, cpuMillis, readUnits: 1, writeUnits: 0, calls: {} };
      return { ...run, reconciler: { ...run.reconciler, functions: { Reconcile: one } } };
    };
    const before = keepFigures(short(2.5));
    expect(pageOf(keepFigures(short(0.6), before))).toBe(pageOf(before));
    expect(pageOf(keepFigures(short(0.4), before))).not.toBe(pageOf(before));
  });
});

describe('the wait for a provider', () => {
  const { kinds } = measured();
  const report = { kinds, memory };

  it('is billed by the memory of the renderer, and renews the lease every 2.4 s', () => {
    expect(waitFor(60, 'RenderImageSmall', memory)).toBeCloseTo(60 * 0.25 * 0.0133334 + 25 * 0.000625, 6);
    expect(waitFor(60, 'RenderImage', memory)).toBeCloseTo(60 * 0.0133334 + 25 * 0.000625, 6);
  });

  it('costs a creation the more, the more memory its renderer has', () => {
    const [small = 0, large = 0, any = 0] = ['RenderImageSmall', 'RenderImageLarge', 'RenderImage'].map(
      (name) => successAfter(15, name, report),
    );
    expect(small).toBeLessThan(large);
    expect(large).toBeLessThan(any);
  });
});

describe('the committed docs/cost.md', () => {
  const month = tableRows(sectionOf(page, '## A month without requests'));
  const reported = async (): Promise<CostReport> => {
    const { kinds, reconciler } = committedCounts;
    const present = await memoryOf();
    return { kinds, memory: present, standing: await standingOf(reconciler, present) };
  };

  it('has the counts of every kind', () => {
    const { kinds, reconciler } = committedCounts;
    for (const { functions } of [...Object.values(kinds), reconciler]) {
      expect(Object.keys(functions).length).toBeGreaterThan(0);
      for (const { cpuMillis } of Object.values(functions)) expect(cpuMillis).toBeGreaterThan(0);
    }
  });

  it('has the tables that its counts and the template give (npm run cost -- --write writes them)', async () => {
    expect(await formattedPage(withTables(page.text, await reported()))).toBe(page.text);
  });

  it('names in its text the figures that its counts and the template give', async () => {
    for (const figure of figuresInText(await reported())) expect(page.text).toContain(figure);
  });

  it('A 1K picture without source images costs at most 0.115 USD for 1,000 after 15 s, and 0.28 after 60 s, without its thumbnails', async () => {
    const [small = []] = tableRows(sectionOf(page, '## While a provider works'));
    const [picture, megabytes, , , , after15 = '', after60 = ''] = small;
    expect(picture).toBe('1K without source images');
    expect(Number(megabytes)).toBe((await memoryOf())['RenderImageSmall']);
    expect(Number(after15)).toBeLessThanOrEqual(0.115 + thumbnailPuts + thumbnailsMost);
    expect(Number(after60)).toBeLessThanOrEqual(0.28 + thumbnailPuts + thumbnailsMost);
  });

  it('A success with webhook at a vendor that calls back costs at most 0.071 USD for 1,000 without its thumbnails', () => {
    const rows = tableRows(sectionOf(page, '## 1,000 creations'));
    const [, , , , all = ''] = rows.at(-1) ?? [];
    expect(Number(all.replaceAll('*', ''))).toBeLessThanOrEqual(0.071 + thumbnailPuts + thumbnailsMost);
  });

  it('A cap for each user keeps a POST with webhook and Idempotency-Key within 0.0605 USD for 1,000 without its thumbnails', () => {
    const [[, creation = '', refunded = ''] = []] = tableRows(
      sectionOf(page, '## Caps of a key, and tokens'),
    );
    const { charged: more, refunded: mostMore } = oneMoreItemBill();
    expect([creation, refunded]).toEqual([more.toFixed(4), mostMore.toFixed(4)]);
    const rows = tableRows(sectionOf(page, '## 1,000 creations'));
    const [, , , all = ''] = rows.at(-1) ?? [];
    expect(Number(all.replaceAll('*', '')) + more).toBeLessThanOrEqual(
      0.0605 + thumbnailPuts + thumbnailsMost,
    );
  });

  it('A view of the home page costs its reads, its time and its way through CloudFront', () => {
    // One request with 19.5 read units, 4.2 ms of CPU at 1,024 of 1,769 MB, and six calls of 6 ms.
    const home =
      19.5 * 0.000125 + ((4.2 * 1769) / 1024 + 36) * 0.0000133334 + 0.0002 + 0.001 + 680 * 0.5e-6 + 0.001;
    const totals = tableRows(sectionOf(page, '## The portal')).at(-1) ?? [];
    expect(Number(totals[2]?.replaceAll('*', ''))).toBeCloseTo(home, 4);
  });

  it('A held request costs the time of its function with the memory of the template', async () => {
    const [[, short, , long] = []] = tableRows(sectionOf(page, '## A request that is held')).slice(-1);
    const gigabytes = ((await memoryOf())['OpenaiImages'] ?? 0) / 1024;
    // 105 s more are 105 s of the function, and a poll of one unit every two seconds.
    expect(Number(long) - Number(short)).toBeCloseTo(105 * gigabytes * 0.0133334 + 52.5 * 0.000125, 3);
  });

  it('The bill of a month without requests is the sum of the parts', () => {
    const [[, all = ''] = []] = month.slice(-1);
    const sum = month.slice(0, -1).reduce((total, [, usd]) => total + Number(usd), 0);
    // Each part is rounded to a cent.
    expect(Math.abs(Number(all.replaceAll('*', '')) - sum)).toBeLessThan(0.015);
  });
});
