/** The smoke test that an operator runs after a deployment. It runs against the local service here. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { challengeIn } from '../../../admin/smoke/steps.ts';
import { sharedTestService } from '../../fixtures/service.ts';
import { startReceiver } from './receiver.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterAll(async () => {
  await receiver.close();
  await service.end();
});

interface Report {
  readonly ok: boolean;
  readonly error?: string;
  readonly cost?: number;
  readonly steps: readonly { readonly step: string; readonly found: string }[];
}

async function smoke(...args: string[]): Promise<{ code: number; report: Report }> {
  const child = spawn(process.execPath, ['bin/smoke.ts', '--json', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  return { code, report: JSON.parse(out) as Report };
}

describe('the header of a 401 that the smoke test reports', () => {
  it.each([
    [{ 'www-authenticate': 'Bearer' }, 'WWW-Authenticate: Bearer'],
    [{ 'x-amzn-remapped-www-authenticate': 'Bearer' }, 'x-amzn-remapped-www-authenticate: Bearer'],
    [{}, 'no header: neither WWW-Authenticate nor x-amzn-remapped-www-authenticate'],
  ])('The smoke test names the header for %j', (headers, found) => {
    expect(challengeIn(new Headers(headers))).toBe(found);
  });
});

describe.concurrent('npm run smoke', () => {
  it('The smoke test renders a picture, charges once, refunds a failure and sees the webhook delivered', async () => {
    const { key } = await service.client({ balance: '1' });
    const { code, report } = await smoke(
      '--api',
      service.machine.apiUrl,
      '--key',
      key,
      '--webhook',
      receiver.hook('smoke', 200),
    );
    expect(report.error).toBeUndefined();
    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, cost: 0.01 });
    expect(report.steps.map(({ step }) => step)).toEqual([
      'stranger refused',
      'scheme named in',
      'models',
      'balance',
      'price',
      'accepted',
      'replayed',
      'completed',
      'picture',
      'webhook',
      'charged once',
      'failure',
      'refunded',
    ]);
    expect(report.steps.find(({ step }) => step === 'scheme named in')?.found).toBe(
      'WWW-Authenticate: Bearer',
    );
    expect(report.steps.find(({ step }) => step === 'refunded')?.found).toBe('balance again 0.99 USD');
    expect(receiver.arrivals('smoke').map(({ headers }) => headers['x-webhook-event'])).toEqual([
      'creation.completed',
    ]);
  });

  it('The smoke test says what to do about a wallet that is too small, and renders nothing', async () => {
    const { key, account } = await service.client({ balance: '0.001' });
    const { code, report } = await smoke('--api', service.machine.apiUrl, '--key', key);
    expect(code).toBe(1);
    expect(report.error).toBe(
      'the picture costs 0.01 USD and 0.001 are available: `npm run admin -- wallet top-up`',
    );
    expect(await service.account(account.id)).toMatchObject({ availableMicros: 1_000 });
  });

  it.each([
    [
      'a key of nobody',
      ['--key', 'dk_live_x'],
      /^GET \/models was answered 401 ERR_API_KEY_INVALID: .* is the key one of this deployment/,
    ],
    [
      'an address where nobody listens',
      ['--key', 'x', '--api', 'http://127.0.0.1:1'],
      /^http:\/\/127\.0\.0\.1:1 does not answer \(.*\): compare --api with the stack's output ApiUrl\.$/,
    ],
    ['an address that is not valid', ['--key', 'x', '--api', 'prod'], /^--api: "prod" is no address/],
  ])('The smoke test complains in one sentence about %s', async (_what, args, message) => {
    const { code, report } = await smoke('--api', service.machine.apiUrl, ...args);
    expect(code).toBe(1);
    expect(report.error).toMatch(message);
  });
});
