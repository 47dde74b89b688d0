/** The commands `usage` and `report` against the whole service, with a fake of a vendor that is not free. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { month } from '../../admin/terminal/values.ts';
import { fakes } from '../../lab/vendors/fakes/all-fakes.ts';
import type { FakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { enableAll, environmentOf } from '../../lab/vendors/fleet.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { settled, submit } from '../whole/workflow/creations.ts';
import { admin, adminJson, refusal } from './admin-run.ts';

/** What gpt-image-2-low costs for an image of 1K, by service/catalog/provider-costs.json. */
const providerCost = 0.006;
const hostile = '=HYPERLINK("https://attacker.test","a, b")';
const figuresSchema = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  total: z.record(z.string(), z.unknown()),
  findings: z.array(z.record(z.string(), z.unknown())).optional(),
});

let openai: FakeVendor;
let service: TestService;
let client: Client;
let other: Client;
let secondKey: string;
let priceMicros: number;
/** In USD: the price of an image of the vendor, plus this much. */
const withPrice = (micros: number): number => (priceMicros + micros) / 1_000_000;
let today: string;
let rendered: string;
const run = async (...args: readonly string[]) =>
  figuresSchema.parse(await adminJson(service.folder, ...args));
const usage = (...more: readonly string[]) =>
  run('usage', client.account.id, '--from', today, '--to', today, ...more);
const report = (...more: readonly string[]) => run('report', '--from', today, '--to', today, ...more);

beforeAll(async () => {
  openai = await fakes.openai.start();
  service = await startTestService({ environment: environmentOf([['openai', openai]]) });
  await enableAll(service.operator);
  client = await service.client({ name: '@studio' });
  other = await service.client();
  secondKey = (await issueKey(service.operator, client.account, { name: 'batch' })).key;
  const order = async (key: string, body: object) => {
    const id = await submit(service, key, { prompt: 'a lake', ...body });
    return settled(service, id);
  };
  const model = 'gpt-image-2-low';
  const done = await order(client.key, { model, user: 'ann', webhook_url: service.machine.inboxUrl });
  expect(done).toMatchObject({ status: 'completed', attempts: [{ provider: 'openai' }] });
  rendered = done.id;
  priceMicros = done.costMicros;
  await order(secondKey, { model: 'sandbox-sketch', user: hostile });
  await order(client.key, { model: 'sandbox-sketch', prompt: 'a lake [sandbox:fail]' });
  await order(other.key, { model, user: 'ann', prompt: 'a lake [row:long-prompt]' });
  today = done.createdAt.slice(0, 10);
});
afterAll(async () => {
  await service.end();
  await openai.stop();
});

describe('usage', () => {
  it('The usage of an account has a line for each day, key, model or user, the spend of the ledger, and no figure of a provider', async () => {
    const ledger = await service.operator.wallet.ledger(client.account.id);
    const moved = ledger.filter(({ kind }) => kind === 'charge' || kind === 'refund');
    const spent = moved.reduce((sum, { amountMicros }) => sum - amountMicros, 0) / 1_000_000;
    const counts = { creations: 3, completed: 2, failed: 1 };
    const total = { ...counts, charged: withPrice(20_000), refunded: 0.01, spent };
    const linesBy = async (by: string): Promise<Readonly<Record<string, unknown>>[]> => {
      const found = await usage('--by', by);
      expect(found.total, by).toEqual(total);
      expect(JSON.stringify(found)).not.toMatch(/provider|openai|margin|cost|0\.006/);
      return found.data;
    };
    const spentBy = async (by: string): Promise<unknown[]> =>
      (await linesBy(by)).map((line) => [line[by], line['creations'], line['spent']]);
    expect(await spentBy('day')).toEqual([[today, 3, withPrice(10_000)]]);
    expect(await spentBy('model')).toEqual([
      ['gpt-image-2-low', 1, withPrice(0)],
      ['sandbox-sketch', 2, 0.01],
    ]);
    expect(await spentBy('user')).toEqual([
      [hostile, 1, 0.01],
      ['ann', 1, withPrice(0)],
      [null, 1, 0],
    ]);
    const lines = await linesBy('key');
    expect(lines.map(({ key, name, creations }) => [key === client.record.id, name, creations])).toEqual(
      expect.arrayContaining([
        [true, client.record.name, 2],
        [false, 'batch', 1],
      ]),
    );
    expect(lines).toHaveLength(2);
  });

  it('CSV has a header, six decimals, and no formula of a client', async () => {
    const days = ['--from', today, '--to', today];
    const { out } = await admin(
      service.folder,
      ...['usage', client.account.id, ...days, '--by', 'user', '--csv'],
    );
    expect(out.split('\n')).toEqual([
      'user,creations,completed,failed,charged,refunded,spent\r',
      `"'=HYPERLINK(""https://attacker.test"",""a, b"")",1,1,0,0.010000,0.000000,0.010000\r`,
      `ann,1,1,0,${withPrice(0).toFixed(6)},0.000000,${withPrice(0).toFixed(6)}\r`,
      ',1,0,1,0.010000,0.010000,0.000000\r',
    ]);
  });

  it('A table ends with the total, and days without a charge say so', async () => {
    const table = async (from: string, to: string) =>
      (await admin(service.folder, 'usage', client.account.id, '--from', from, '--to', to)).out.split('\n');
    const lines = await table(today, today);
    expect(lines.map((line) => line.split(/ +/)[0])).toEqual(['day', today, 'total']);
    expect(await table('2020-01-01', '2020-12-31')).toEqual([
      'Nothing was charged or refunded in these days.',
    ]);
    const none = await run('usage', client.account.id, '--from', '2020-01-01', '--to', '2020-01-01');
    expect(none).toMatchObject({ data: [], total: { creations: 0, spent: 0 } });
  });
});

describe('report', () => {
  it.each(['account', 'model', 'provider', 'day'])(
    'The report by %s has the revenue of all accounts, the costs and the margin to the micro-dollar, and names a wrong bill',
    async (by) => {
      const { data, total, findings } = await report('--by', by);
      const revenueMicros = 2 * priceMicros + 10_000;
      const marginMicros = revenueMicros - 2 * providerCost * 1_000_000;
      expect(total).toEqual({
        creations: 4,
        failed: 1,
        revenue: revenueMicros / 1_000_000,
        provider_cost: 0.012,
        margin: marginMicros / 1_000_000,
        margin_percent: Math.round((10_000 * marginMicros) / revenueMicros) / 100,
        cost_unknown: 0,
        revenue_cost_unknown: 0,
        unclear: 0,
        unclear_cost: 0,
        billed: 2,
        billed_cost: 0.0169,
        billed_catalog_cost: 0.012,
        billed_difference: 0.0049,
        billed_difference_percent: 40.83,
      });
      const sum = (name: string): number =>
        data.reduce((added, line) => added + Math.round(Number(line[name]) * 1_000_000), 0);
      expect([sum('revenue'), sum('provider_cost'), sum('margin')]).toEqual([
        revenueMicros,
        12_000,
        marginMicros,
      ]);
      expect(findings).toEqual([
        {
          provider: 'openai',
          provider_model: 'gpt-image-2',
          quality: 'low',
          images: 2,
          billed_cost: 0.0169,
          catalog_cost: 0.012,
          difference: 0.0049,
          difference_percent: 40.83,
        },
      ]);
    },
  );

  it('A table of the report ends with each route whose vendor bills more than 5 % more or less than the catalog says', async () => {
    const { out } = await admin(service.folder, 'report', '--from', today, '--to', today);
    expect(out).toContain(
      'openai gpt-image-2 low: billed 0.0169 USD for 2 images; the catalog says 0.012 USD, 40.83 % more.',
    );
  });

  it('A provider has its own line, and an account has its name', async () => {
    expect((await report('--by', 'provider')).data).toMatchObject([
      { provider: 'openai', creations: 2, provider_cost: 0.012, failed: 0 },
      { provider: 'sandbox', creations: 2, provider_cost: 0, failed: 1, revenue: 0.01 },
    ]);
    const { out } = await admin(
      service.folder,
      ...['report', '--from', today, '--to', today, '--by', 'account', '--csv'],
    );
    const [header, ...lines] = out.split('\r');
    expect(header).toBe(
      'account,name,creations,failed,revenue,provider_cost,margin,margin_percent,cost_unknown,revenue_cost_unknown,unclear,unclear_cost,billed,billed_cost,billed_catalog_cost,billed_difference,billed_difference_percent',
    );
    const own = lines.find((line) => line.includes(client.account.id));
    expect(own?.trim()).toMatch(
      new RegExp(`^${client.account.id},'@studio,3,1,${withPrice(10_000).toFixed(6)},0\\.006000,`),
    );
  });
});

describe('report --month', () => {
  it('The month that runs is reported from its first day until today', async () => {
    const running = today.slice(0, 7);
    expect(await run('report', '--month', running)).toEqual(
      await run('report', '--from', `${running}-01`, '--to', today),
    );
  });

  it.each([
    ['2024-02', '2024-02-29'],
    ['2025-12', '2025-12-31'],
    ['2026-11', '2026-11-25'],
  ])('On 25 November 2026 the month %s ends on %s', (text, to) => {
    const now = Date.parse('2026-11-25T23:59:59Z');
    expect(month('--month', text, now)).toEqual({ from: `${text}-01`, to });
  });

  it('A month that has not begun is refused', async () => {
    const next = String(Number(today.slice(0, 4)) + 1);
    expect(await refusal(service.folder, 'report', '--month', `${next}-01`)).toBe(
      `--month: ${next}-01 has not begun.`,
    );
  });
});

describe('a client', () => {
  it.each(['', `?user=ann`])('The list of creations%s shows no cost of a provider', async (query) => {
    const { text } = await service.send(`/creations${query}`, { key: client.key });
    expect(text).toContain(rendered);
    expect(text).not.toMatch(/provider|openai|0\.006\b|[^\w-]6000\b|costMicros/i);
  });

  it.each(['/models', '/balance'])('%s shows no cost of a provider', async (path) => {
    expect((await service.send(path, { key: client.key })).text).not.toMatch(/provider_?cost|costMicros/i);
  });

  it('A creation, its quote and its webhook show no cost of a provider', async () => {
    const shown = await service.send(`/creations/${rendered}`, { key: client.key });
    const quote = await service.send('/images/quote', {
      key: client.key,
      body: { model: 'gpt-image-2-low', prompt: 'a lake' },
    });
    const [delivery] = await service.operator.deliveries.log(client.account.id, 10);
    const record = await service.operator.creations.read(rendered as never);
    expect([shown.status, quote.status, delivery?.outcome]).toEqual([200, 200, 'delivered']);
    const told = [shown.text, quote.text, record?.webhook?.body].join('\n');
    for (const { headers } of [shown, quote]) expect([...headers].join('\n')).not.toContain('0.006');
    expect(told).not.toMatch(/provider|openai|0\.006\b|costMicros/i);
  });
});

describe('wrong options', () => {
  const days = ['--from', '2026-11-01', '--to', '2026-11-02'];
  it.each([
    [
      ['report', '--from', '2026-02-30', '--to', '2026-03-01'],
      '--from: "2026-02-30" is no day, such as 2026-11-21.',
    ],
    [['report', '--from', '2026-11-01', '--to', 'today'], '--to: "today" is no day, such as 2026-11-21.'],
    [['report', '--from', '2026-11-02', '--to', '2026-11-01'], '--to: must not be before --from.'],
    [
      ['report', '--month', '2026-11', '--to', '2026-11-02'],
      '--month excludes --from and --to: name the month, or the days.',
    ],
    [['report', '--month', '2026-13'], '--month: "2026-13" is no month, such as 2026-11.'],
    [['report', '--month', '2026-11-01'], '--month: "2026-11-01" is no month, such as 2026-11.'],
    [['report', '--from', '2026-11-01'], 'Name the days with --from and --to, or a month with --month.'],
    [['report', ...days, '--by', 'user'], '--by: must be one of account, model, provider, day.'],
    [['usage', 'ZZZZZZZZZZ', ...days, '--by', 'provider'], '--by: must be one of day, key, model, user.'],
    [
      ['usage', 'ZZZZZZZZZZ', ...days],
      'There is no account ZZZZZZZZZZ: `npm run admin -- accounts list` shows them.',
    ],
  ])('%j is refused with one sentence', async (args, message) => {
    expect(await refusal(service.folder, ...args)).toBe(message);
  });

  it('--csv and --json together are refused', async () => {
    const { code, complaint } = await admin(service.folder, '--json', 'report', ...days, '--csv');
    expect(code).toBe(1);
    expect(complaint).toContain('--csv and --json: give one of them.');
  });
});

it('An account without a charge is in no line of the report', async () => {
  await createAccount(service.operator, { name: 'empty', balance: '5' });
  const { data } = await report('--by', 'account');
  expect(data.map(({ account }) => account)).toEqual(
    expect.arrayContaining([client.account.id, other.account.id]),
  );
  expect(data).toHaveLength(2);
});
