import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestService, type Answer, type Client, type TestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.end());
beforeEach(async () => {
  client = await service.client({ postRate: '1000' });
});

const body = { model: 'sandbox-sketch', prompt: 'a jetty in fog', metadata: { order: '7', part: 'a' } };

function submit(key: string, change: object = {}, by: Client = client): Promise<Answer> {
  return service.send('/images/generate', {
    key: by.key,
    body: { ...body, ...change },
    headers: { 'idempotency-key': key },
  });
}

async function charges(of: Client = client): Promise<number> {
  return (await service.operator.wallet.ledger(of.account.id)).filter((row) => row.kind === 'charge').length;
}

const idOf = (answer: Answer): string => (answer.body as { id: string }).id;

describe('the same Idempotency-Key with the same validated request', () => {
  it('is answered 202 with the same creation, Idempotent-Replayed: true, and charged once', async () => {
    const first = await submit('order-1');
    const second = await submit('order-1');
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(idOf(second)).toBe(idOf(first));
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await charges()).toBe(1);
  });

  it('shows the creation in its current state', async () => {
    const first = await submit('order-2');
    await service.ended(idOf(first));
    const second = await submit('order-2');
    expect(second).toMatchObject({ status: 202, body: { id: idOf(first), status: 'completed' } });
  });

  it('may write its fields in another order and its prompt with other spaces around', async () => {
    const first = await submit('order-3');
    const second = await service.send('/images/generate', {
      key: client.key,
      body: { metadata: { part: 'a', order: '7' }, prompt: '  a jetty in fog\n', model: 'sandbox-sketch' },
      headers: { 'idempotency-key': 'order-3' },
    });
    expect(idOf(second)).toBe(idOf(first));
  });

  it('sent at once, makes one creation and one charge', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => submit('order-4')));
    expect(new Set(answers.map((answer) => `${answer.status} ${idOf(answer)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(11);
    expect(await charges()).toBe(1);
  });

  it('is replayed even when the wallet is empty, the model hidden and its provider off by now', async () => {
    const poor = await service.client({ balance: '0.01' });
    const first = await submit('order-5', {}, poor);
    await service.operator.accounts.change(poor.account.id, {
      hiddenModels: ['sandbox-sketch'],
      providers: [],
    });
    const second = await submit('order-5', {}, poor);
    expect([second.status, idOf(second)]).toEqual([202, idOf(first)]);
  });

  it('of another account is a request of its own', async () => {
    const other = await service.client();
    const [mine, theirs] = [await submit('order-6'), await submit('order-6', {}, other)];
    expect(theirs.status).toBe(202);
    expect(theirs.headers.has('idempotent-replayed')).toBe(false);
    expect(idOf(theirs)).not.toBe(idOf(mine));
  });

  it('after 24 hours is a new request, and not a moment before', async () => {
    const first = await submit('order-7');
    await service.ended(idOf(first));
    await service.machine.advance(24 * 3600 - 120);
    expect(idOf(await submit('order-7'))).toBe(idOf(first));
    await service.machine.advance(180);
    const second = await submit('order-7');
    expect([second.status, second.headers.has('idempotent-replayed'), idOf(second) === idOf(first)]).toEqual([
      202,
      false,
      false,
    ]);
    expect(await charges()).toBe(2);
  });
});

it('null in an optional field and the field left out are the same request', async () => {
  const first = await submit('nulls');
  const second = await submit('nulls', { seed: null, webhook_url: null });
  expect([second.status, second.headers.get('idempotent-replayed'), idOf(second)]).toEqual([
    202,
    'true',
    idOf(first),
  ]);
});

it('requests that differ in a metadata key such as __proto__ alone are different requests', async () => {
  const withName = (value: string): object => ({
    metadata: JSON.parse(`{"__proto__":"${value}"}`) as object,
  });
  const first = await submit('names', withName('a'));
  expect(first.status).toBe(202);
  expect(refusalOf(await submit('names', withName('b'))).details['reason']).toBe('idempotency_key_mismatch');
});

describe('the same Idempotency-Key with another request', () => {
  it.each([
    ['another prompt', { prompt: 'a jetty in sunshine' }],
    ['another metadata value', { metadata: { order: '8', part: 'a' } }],
    ['a default written out', { resolution: '1K' }],
  ])('%s: 400 idempotency_key_mismatch, nothing charged', async (_what, change) => {
    await submit('other');
    const answer = await submit('other', change);
    expect(refusalOf(answer)).toMatchObject({
      status: 400,
      code: 'ERR_INVALID_REQUEST',
      details: { reason: 'idempotency_key_mismatch' },
    });
    expect(await charges()).toBe(1);
  });
});

describe('the same Idempotency-Key is free again', () => {
  it('after a refusal, for the same or for another request', async () => {
    const poor = await service.client({ balance: '0' });
    expect((await submit('again', {}, poor)).status).toBe(402);
    await service.operator.wallet.topUp(poor.account.id, 1_000_000 as never, 'paid');
    const answer = await submit('again', { prompt: 'now with money' }, poor);
    expect([answer.status, answer.headers.has('idempotent-replayed')]).toEqual([202, false]);
  });

  it('after its creation failed and was refunded: at most one unrefunded charge a key', async () => {
    const first = await submit('failed', { prompt: 'a [sandbox:fail] picture' });
    await service.ended(idOf(first));
    const second = await submit('failed', { prompt: 'a picture' });
    expect([second.status, second.headers.has('idempotent-replayed')]).toEqual([202, false]);
    expect(idOf(second)).not.toBe(idOf(first));
    await service.ended(idOf(second));
    expect(idOf(await submit('failed', { prompt: 'a picture' }))).toBe(idOf(second));
    const rows = await service.operator.wallet.ledger(client.account.id);
    expect(rows.map((row) => row.kind).filter((kind) => kind !== 'top_up')).toEqual([
      'charge',
      'refund',
      'charge',
    ]);
  });

  it('and of many who come at once after a failure, one is new', async () => {
    const first = await submit('failed-crowd', { prompt: '[sandbox:fail]' });
    await service.ended(idOf(first));
    const answers = await Promise.all(Array.from({ length: 8 }, () => submit('failed-crowd')));
    expect(new Set(answers.map((answer) => `${answer.status} ${idOf(answer)}`)).size).toBe(1);
    expect(await charges()).toBe(2);
  });
});

describe('an Idempotency-Key', () => {
  it('is the same bare and quoted', async () => {
    const bare = await submit('8e03978e-40d5-43dd-bc93-6894a57f9324');
    const quoted = await submit('"8e03978e-40d5-43dd-bc93-6894a57f9324"');
    expect(idOf(quoted)).toBe(idOf(bare));
  });

  it.each([
    ['one character', 'a'],
    ['255 characters', 'k'.repeat(255)],
    ['255 characters, quoted', `"${'q'.repeat(255)}"`],
    ['spaces and marks', 'order 7; "part" a/b = {c}'],
  ])('of %s is taken', async (_form, key) => {
    const [first, second] = [await submit(key), await submit(key)];
    expect([first.status, second.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
  });

  it.each([
    ['empty', ''],
    ['empty in quotes', '""'],
    ['256 characters', 'k'.repeat(256)],
    ['256 characters, quoted', `"${'q'.repeat(256)}"`],
    ['not ASCII', 'clé'],
    ['a tab', 'a\tb'],
  ])('%s is refused with 400 and names the header', async (_form, key) => {
    const answer = await submit(key);
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'Idempotency-Key: invalid_value']);
    expect(await charges()).toBe(0);
  });
});

everyAnswer(() => service);
