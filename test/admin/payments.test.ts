/** The commands of payments against the whole service and the fake of Stripe (M26). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Account } from '../../service/accounts/account.ts';
import { deleteItem } from '../../service/aws/dynamodb/send.ts';
import { paymentKey } from '../../service/payments/payment-store.ts';
import type { PaymentId } from '../../service/payments/payment.ts';
import { asMicros } from '../../service/values/money.ts';
import { type Browser, portalOf } from '../fixtures/portal.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { admin, adminJson, refusal } from './admin-run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const today = new Date().toISOString().slice(0, 10);

let service: TestService;
let account: Account;
let owner: Browser;
let payment: PaymentId;
beforeAll(async () => {
  service = await startTestService({ takesPayments: true });
  ({ account } = await service.client());
  owner = await portalOf(service).join(account.id, 'owner@payer.test', 'owner');
  const begun = await owner.send('POST', '/payments', { amount: 25, save_card: true });
  const { id, url } = JSON.parse(begun.text) as { id: PaymentId; url: string };
  payment = id;
  await fetch(url, { method: 'POST', body: new URLSearchParams({ card: 'pays' }), redirect: 'manual' });
  // The page after the payment.
  await owner.send('GET', `/payments/${id}`);
});
afterAll(() => service.end());

const run = (...args: readonly string[]) => adminJson(service.folder, 'payments', ...args);
const intent = async (): Promise<string> => String((await run('show', payment))['payment_intent']);

/** A command that reads standard input gets a process of its own. */
async function setStripe(input: string, ...more: readonly string[]) {
  const args = ['bin/admin.ts', '--json', '--data', service.folder, 'payments', 'set-stripe', ...more];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [out, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, complaint };
}

it('list, show and report show the payments that came in', async () => {
  expect(await run('list', account.id)).toMatchObject({
    data: [{ payment, account: account.id, kind: 'checkout', state: 'succeeded', amount: 25, credited: 25 }],
  });
  expect(await run('show', payment)).toMatchObject({ payment, auto_top_up: 'off' });
  expect(await run('list')).toEqual({ data: [] });
  expect(await adminJson(service.folder, 'report', '--from', today, '--to', today)).toMatchObject({
    money_in: { payments: 25, top_ups: expect.any(Number) as number, reversed: 0, held: 0, held_amount: 0 },
  });
  expect(await refusal(service.folder, 'payments', 'show', 'pay_nothing')).toContain('There is no payment');
});

it('audit names a charge whose record was deleted by hand, with exit code 1, and refresh mends the record', async () => {
  const audit = ['payments', 'audit', '--from', today, '--to', today];
  expect(await admin(service.folder, ...audit)).toMatchObject({
    code: 0,
    complaint: '1 charges at Stripe, 1 credited payments here, 0 differences',
  });
  const pi = await intent();
  // All events of the payment have come, and the service does not list them again for ten minutes.
  await service.machine.advance(60);
  await deleteItem(service.operator.table, paymentKey(payment));
  await service.operator.wallet.adjust(account.id, asMicros(-25_000_000), 'deleted by hand');
  const broken = await admin(service.folder, '--json', ...audit);
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.out)).toMatchObject({
    data: [{ difference: 'no_record', payment, at_stripe: 25, here: 0, payment_intent: pi }],
  });
  // By the id of the payment alone, as the record with the PaymentIntent is gone.
  expect(await run('refresh', payment)).toMatchObject({ outcome: 'succeeded' });
  expect(await run('refresh', pi)).toMatchObject({ outcome: 'succeeded' });
  expect((await admin(service.folder, ...audit)).code).toBe(0);
  expect((await service.account(account.id)).availableMicros).toBe(50_000_000);
});

it('pause closes payments for an account, and clear opens them again', async () => {
  expect(await run('pause', account.id)).toMatchObject({
    payments: 'closed',
    auto_top_up: 'paused: operator',
  });
  const refused = await owner.send('POST', '/payments', { amount: 5, save_card: false });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('"payments_closed"')]);
  expect(await run('clear', account.id)).toMatchObject({ payments: 'open', auto_top_up: 'off' });
});

it('set-stripe takes a restricted key and two secrets, and no other text', async () => {
  expect((await setStripe('sk_test_0123456789')).complaint).toContain('Make a restricted key at Stripe');
  expect((await setStripe('rk_test_1')).complaint).toContain('begins neither with');
  const rolled = await setStripe('whsec_0123456789_new');
  expect(JSON.parse(rolled.out)).toMatchObject({
    ...{ mode: 'test', key: 'accepted', webhook_secrets: 2 },
    webhook_url: `${new URL(service.machine.apiUrl).origin}/callbacks/v1/payments/stripe`,
  });
  expect((await setStripe('rk_live_0123456789')).complaint).toContain('--yes');
  expect(JSON.parse((await setStripe('rk_live_0123456789', '--yes')).out)).toMatchObject({ mode: 'live' });
});
