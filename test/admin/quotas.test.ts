import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { awsDefaultOf, awsDefaults } from '../../admin/preflight/quotas/aws-defaults.ts';
import { apiShares, leastApi, unitsOf } from '../../admin/preflight/quotas/creation-load.ts';
import {
  defaultQuotas,
  defaultQuotasOf,
  needsOf,
  quotasFor,
  type Traffic,
} from '../../admin/preflight/quotas/quotas.ts';
import { committedCounts } from '../../lab/cost/counts.ts';
import { concurrencySettings, reservedConcurrency } from '../../lib/concurrency-settings.ts';

const crowd: Traffic = { perSecond: 1_000, seconds: 15, kind: 'synchronous', isPolled: true };

describe('The quotas for a traffic', () => {
  it('hold the executions that wait for a vendor beside what is reserved, and leave 100 unreserved', () => {
    const { concurrency, lambdaConcurrency } = quotasFor(crowd);
    const { rendering, ...apart } = concurrency;
    const reserved = Object.values(apart).map(Number);
    const waiting = 1_000 * (15 + 1) * 1.25;
    expect(rendering).toBe('shared');
    expect(reserved.every(Number.isInteger)).toBe(true);
    expect(lambdaConcurrency).toBeGreaterThanOrEqual(
      reserved.reduce((sum, part) => sum + part, 0) + waiting + 150 + 100,
    );
  });

  it('give the accept its part of what is reserved for the API, and the polls theirs', () => {
    const api = (isPolled: boolean): number => Number(quotasFor({ ...crowd, isPolled }).concurrency.api);
    // 150 accepts are busy at once, 200 with their peaks, and 9 of 20 parts are theirs.
    expect(api(false)).toBe(450);
    // 5,000 polls a second need 500 environments, 630 with their peaks, and 9 of 20 parts are theirs.
    expect(api(true)).toBe(1_500);
  });

  it('grow with the rate and with the time of the vendor', () => {
    const faster = quotasFor({ ...crowd, perSecond: 300 });
    const longer = quotasFor({ ...crowd, seconds: 60 });
    const now = quotasFor(crowd);
    for (const name of ['lambdaConcurrency', 'tableWriteUnits', 'serviceCapacity'] as const) {
      expect(faster[name]).toBeLessThan(now[name]);
      expect(longer[name]).toBeGreaterThan(now[name]);
    }
    expect(longer.startExecutionPerSecond).toBe(now.startExecutionPerSecond);
  });

  it('need few executions and many SendTaskSuccess for a vendor that calls back', () => {
    const job = quotasFor({ ...crowd, kind: 'job' });
    expect(job.lambdaConcurrency).toBeLessThan(quotasFor(crowd).lambdaConcurrency / 3);
    expect(job.sendTaskPerSecond).toBe(1_300);
    // No execution waits for the vendor, so only more polls would change the settings.
    const unasked = { ...crowd, kind: 'job', isPolled: false } as const;
    expect(quotasFor({ ...unasked, seconds: 60 }).concurrency).toEqual(quotasFor(unasked).concurrency);
  });

  it('are never below the defaults, although one creation a second needs less', () => {
    const little = { ...crowd, perSecond: 1 };
    expect(needsOf(little).startExecutionPerSecond).toBe(5);
    const one = quotasFor(little);
    const { concurrency: _settings, ...numbers } = defaultQuotas;
    expect(one).toMatchObject(numbers);
  });

  it('count no poll for clients that take the webhook', () => {
    expect(quotasFor({ ...crowd, isPolled: false }).gatewayRequestsPerSecond).toBe(1_300);
    expect(quotasFor(crowd).gatewayRequestsPerSecond).toBe(7_500);
  });
});

describe('The defaults of AWS', () => {
  it('are smaller outside the three large regions', () => {
    expect(defaultQuotas.startExecutionPerSecond).toBe(300);
    expect(defaultQuotasOf('eu-central-1').startExecutionPerSecond).toBe(150);
    expect(awsDefaultOf('sendTaskPerSecond', 'eu-central-1')).toBe(300);
  });

  it('name a page of AWS for each figure', () => {
    for (const { source } of Object.values(awsDefaults))
      expect(source).toMatch(/^https:\/\/docs\.aws\.amazon\.com\//);
  });
});

describe('The units of one creation', () => {
  /** Write and read units of the rows of docs/cost.md, such as "success, webhook GenerateImage". */
  async function measured(of: string, fn: string): Promise<{ write: number; read: number }> {
    const page = await readFile(new URL('../../docs/cost.md', import.meta.url), 'utf8');
    const cells = page.split('\n').flatMap((line) => {
      const [, kind, name, , , read, write] = line.split('|').map((cell) => cell.trim());
      return kind === of && name === fn ? [{ write: Number(write), read: Number(read) }] : [];
    });
    return cells[0] ?? { write: Number.NaN, read: Number.NaN };
  }

  interface Units {
    readonly write: number;
    readonly read: number;
  }
  const sumOf = (...parts: readonly Units[]): Units => ({
    write: parts.reduce((sum, { write }) => sum + write, 0),
    read: parts.reduce((sum, { read }) => sum + read, 0),
  });

  it.each([
    ['success, webhook, Idempotency-Key', 'GenerateImage', unitsOf.accept],
    ['success, webhook, Idempotency-Key', 'RenderImageSmall', sumOf(unitsOf.render, unitsOf.deliver)],
    ['failure, webhook', 'DeliverWebhook', unitsOf.deliver],
    ['success, webhook, callback', 'RenderImageSmall', unitsOf.submit],
    [
      'success, webhook, callback',
      'ReceiveCallback',
      sumOf(unitsOf.render, unitsOf.callback, unitsOf.deliver),
    ],
    ['poll', 'GetCreation', unitsOf.poll],
  ])('of "%s" in %s are not below what docs/cost.md measured', async (of, fn, units) => {
    const { write, read } = await measured(of, fn);
    expect(units.write).toBeGreaterThanOrEqual(write);
    expect(units.read).toBeGreaterThanOrEqual(read);
  });
});

it('The state transitions of a traffic hold those that docs/cost.md measured, when one of 20 creations fails', () => {
  const { success, 'failure, webhook': failure } = committedCounts.kinds;
  const mean = 0.95 * success.transitions + 0.05 * failure.transitions;
  expect(needsOf(crowd).stateTransitionsPerSecond).toBeGreaterThanOrEqual(1.25 * crowd.perSecond * mean);
});

describe('The shares of concurrency.api', () => {
  it('are those by which the stack divides the setting', () => {
    const api = 10_000;
    const reserved = reservedConcurrency(concurrencySettings.parse({ api }));
    expect((reserved.get('GenerateImage') ?? 0) / api).toBeCloseTo(apiShares.accept, 3);
    expect((reserved.get('GetCreation') ?? 0) / api).toBeCloseTo(apiShares.poll, 3);
  });

  it('can divide no number below the least', () => {
    expect(concurrencySettings.safeParse({ api: leastApi }).success).toBe(true);
    expect(concurrencySettings.safeParse({ api: leastApi - 1 }).success).toBe(false);
  });
});
