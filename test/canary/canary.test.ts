/** The canary: each step that a customer would notice, and what the log says when a step fails. */
import { describe, expect, it } from 'vitest';
import { type CanaryReport, runCanary } from '../../service/canary/canary.ts';
import type { CanaryServices } from '../../service/canary/open.ts';
import type { CanaryAnswer, PublicApi } from '../../service/canary/public-api.ts';
import { fakeClock, fakeLog, type FakeLog, stub } from '../api/fakes.ts';

/** An API that works, whose account has 10 USD and whose pictures cost 0.01 USD and have 1,000 bytes. */
class FakeApi implements PublicApi {
  available = 10;
  ids = ['creation-1', 'creation-1'];
  polls = ['processing', 'completed'];
  cost = 0.01;
  charge = 0.01;
  statuses: Record<string, number> = {};
  picture = { status: 200, bytes: 1_000 };
  readonly keys = new Set<string | undefined>();
  readonly paths: string[] = [];

  async send(path: string, options: Parameters<PublicApi['send']>[1] = {}): Promise<CanaryAnswer> {
    this.paths.push(path);
    const refused = this.statuses[path];
    if (refused !== undefined)
      return Promise.resolve({ status: refused, body: { error: { code: 'ERR_SOMETHING' } } });
    if (path === '/balance') return Promise.resolve({ status: 200, body: { available: this.available } });
    if (path === '/images/quote') return Promise.resolve({ status: 200, body: { cost: 0.01 } });
    if (path === '/images/generate') {
      this.keys.add(options.idempotencyKey);
      if (this.ids.length === 2) this.available = Math.round((this.available - this.charge) * 1e6) / 1e6;
      return Promise.resolve({ status: 202, body: this.creation(this.ids.shift() ?? '', 'queued') });
    }
    const status = this.polls.length > 1 ? this.polls.shift() : this.polls[0];
    return Promise.resolve({ status: 200, body: this.creation('creation-1', status ?? '') });
  }

  async fetchPicture(): Promise<{ status: number; bytes: number }> {
    return Promise.resolve(this.picture);
  }

  private creation(id: string, status: string): object {
    const results = [{ url: 'https://images.example.com/one.png', bytes: 1_000 }];
    return { id, status, cost: this.cost, ...(status === 'completed' && { results }) };
  }
}

async function run(
  change: (api: FakeApi) => void = () => undefined,
): Promise<{ report: CanaryReport; log: FakeLog; api: FakeApi }> {
  const api = new FakeApi();
  change(api);
  const log = fakeLog();
  const services = stub<CanaryServices>({ clock: fakeClock(), log, api: async () => Promise.resolve(api) });
  return { report: await runCanary(services, 'run-1'), log, api };
}

describe('A run of the canary', () => {
  it('A run that succeeds says how long the picture took, and orders it twice under one Idempotency-Key', async () => {
    const { report, log, api } = await run();
    expect(report).toEqual({ outcome: 'succeeded', millis: 4_000 });
    expect(log.lines).toEqual(['info canary_succeeded']);
    expect(log.text()).toContain('"millis":4000');
    expect([...api.keys]).toEqual(['canary-run-1']);
    expect(api.paths).toEqual([
      '/balance',
      '/images/quote',
      '/images/generate',
      '/images/generate',
      '/creations/creation-1',
      '/creations/creation-1',
      '/balance',
    ]);
  });

  it.each<[string, string, string, (api: FakeApi) => void]>([
    [
      'the key is refused',
      'balance',
      '401 instead of 200 (ERR_SOMETHING)',
      (api) => (api.statuses['/balance'] = 401),
    ],
    ['the quote is refused', 'price', '404 instead of 200', (api) => (api.statuses['/images/quote'] = 404)],
    ['the balance is used up', 'price', 'run `canary setup`', (api) => (api.available = 0.009)],
    [
      'the order is refused',
      'accepted',
      '503 instead of 202',
      (api) => (api.statuses['/images/generate'] = 503),
    ],
    ['a replay makes another creation', 'replayed', 'second creation', (api) => (api.ids[1] = 'creation-2')],
    ['the creation fails', 'completed', 'creation-1 is failed', (api) => (api.polls = ['failed'])],
    [
      'the creation does not end',
      'completed',
      'creation-1 is processing',
      (api) => (api.polls = ['processing']),
    ],
    ['the creation has another price', 'completed', 'another price', (api) => (api.cost = 0.02)],
    ['the picture cannot be fetched', 'picture', 'answered 403', (api) => (api.picture.status = 403)],
    ['the picture is cut off', 'picture', 'another length', (api) => (api.picture.bytes = 999)],
    ['nothing is charged', 'charged', '0 micro-dollars', (api) => (api.charge = 0)],
    ['the picture is charged twice', 'charged', '20000 micro-dollars', (api) => (api.charge = 0.02)],
  ])('When %s, the step %s fails', async (_what, step, why, change) => {
    const { report, log } = await run(change);
    expect(report).toMatchObject({ outcome: 'failed', step, why: expect.stringContaining(why) as string });
    expect(log.lines).toEqual(['info canary_failed']);
  });

  it('A run waits half a minute for its picture, so that it ends before the next run', async () => {
    const { api } = await run((one) => (one.polls = ['queued']));
    expect(api.paths.filter((path) => path.startsWith('/creations/'))).toHaveLength(15);
  });

  it('An API that does not answer fails the step that asked, without a word of the address', async () => {
    const { report } = await run((api) => {
      api.fetchPicture = async () => Promise.reject(new TypeError('fetch failed: https://secret.example'));
    });
    expect(report).toEqual({ outcome: 'failed', step: 'picture', why: 'no answer (TypeError)' });
  });

  it('A canary without a key says that nobody has set it up', async () => {
    const log = fakeLog();
    const services = stub<CanaryServices>({
      clock: fakeClock(),
      log,
      api: async () => Promise.resolve(undefined),
    });
    expect(await runCanary(services, 'run-1')).toMatchObject({ outcome: 'failed', step: 'set_up' });
  });
});
