import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { asMicros } from '../../service/values/money.ts';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

let client: Client;
const service = await sharedTestService();
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

describe('a second request with the same Idempotency-Key and the same validated body', () => {
  it('The second request is answered 202 with the same creation and Idempotent-Replayed: true, and is charged once', async () => {
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

  it('The second request gets the creation in its current state', async () => {
    const first = await submit('order-2');
    await service.ended(idOf(first));
    const second = await submit('order-2');
    expect(second).toMatchObject({ status: 202, body: { id: idOf(first), status: 'completed' } });
  });

  it('The second request may have its fields in another order and its prompt with other spaces around', async () => {
    const first = await submit('order-3');
    const second = await service.send('/images/generate', {
      key: client.key,
      body: { metadata: { part: 'a', order: '7' }, prompt: '  a jetty in fog\n', model: 'sandbox-sketch' },
      headers: { 'idempotency-key': 'order-3' },
    });
    expect(idOf(second)).toBe(idOf(first));
  });

  it('The request is replayed even if the wallet is empty, the model hidden and its provider disabled by then', async () => {
    const poor = await service.client({ balance: '0.01' });
    const first = await submit('order-5', {}, poor);
    await service.operator.accounts.change(poor.account.id, {
      hiddenModels: ['sandbox-sketch'],
      providers: [],
    });
    const second = await submit('order-5', {}, poor);
    expect([second.status, idOf(second)]).toEqual([202, idOf(first)]);
  });

  it('The same key of another account is a request of its own', async () => {
    const other = await service.client();
    const [mine, theirs] = [await submit('order-6'), await submit('order-6', {}, other)];
    expect(theirs.status).toBe(202);
    expect(theirs.headers.has('idempotent-replayed')).toBe(false);
    expect(idOf(theirs)).not.toBe(idOf(mine));
  });

  it('After 24 hours the key is free for a new request, and not a moment earlier', async () => {
    const first = await submit('order-7');
    await service.ended(idOf(first));
    service.jump(24 * 3600 - 120);
    expect(idOf(await submit('order-7'))).toBe(idOf(first));
    service.jump(180);
    const second = await submit('order-7');
    expect([second.status, second.headers.has('idempotent-replayed'), idOf(second) === idOf(first)]).toEqual([
      202,
      false,
      false,
    ]);
    expect(await charges()).toBe(2);
  });
});

it('A null in an optional field and an absent field make the same request', async () => {
  const first = await submit('nulls');
  const second = await submit('nulls', { seed: null, webhook_url: null });
  expect([second.status, second.headers.get('idempotent-replayed'), idOf(second)]).toEqual([
    202,
    'true',
    idOf(first),
  ]);
});

it('Two requests that differ only in a metadata key such as __proto__ are different requests', async () => {
  const withName = (value: string): object => ({
    metadata: JSON.parse(`{"__proto__":"${value}"}`) as object,
  });
  const first = await submit('names', withName('a'));
  expect(first.status).toBe(202);
  expect(refusalOf(await submit('names', withName('b'))).details['reason']).toBe('idempotency_key_mismatch');
});

describe('a second request with the same Idempotency-Key and another body', () => {
  it.each([
    ['another prompt', { prompt: 'a jetty in sunshine' }],
    ['another metadata value', { metadata: { order: '8', part: 'a' } }],
    ['a default written out', { resolution: '1K' }],
  ])(
    'A request with %s is answered 400 idempotency_key_mismatch, and nothing is charged',
    async (_what, change) => {
      await submit('other');
      const answer = await submit('other', change);
      expect(refusalOf(answer)).toMatchObject({
        status: 400,
        code: 'ERR_INVALID_REQUEST',
        details: { reason: 'idempotency_key_mismatch' },
      });
      expect(await charges()).toBe(1);
    },
  );
});

describe('an Idempotency-Key that is free again', () => {
  it('The key is free after a refusal, for the same request or another one', async () => {
    const poor = await service.client({ balance: '0' });
    expect((await submit('again', {}, poor)).status).toBe(402);
    await service.operator.wallet.topUp(poor.account.id, asMicros(1_000_000), 'paid');
    const answer = await submit('again', { prompt: 'now with money' }, poor);
    expect([answer.status, answer.headers.has('idempotent-replayed')]).toEqual([202, false]);
  });

  it('The key is free after its creation failed and was refunded, so a key has at most one charge that is not refunded', async () => {
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

  it('Of many requests at once after a failure, one makes a new creation', async () => {
    const first = await submit('failed-crowd', { prompt: '[sandbox:fail]' });
    await service.ended(idOf(first));
    const answers = await Promise.all(Array.from({ length: 8 }, () => submit('failed-crowd')));
    expect(new Set(answers.map((answer) => `${answer.status} ${idOf(answer)}`)).size).toBe(1);
    expect(await charges()).toBe(2);
  });
});

describe('the form of an Idempotency-Key', () => {
  it('The key is the same key bare and in quotes', async () => {
    const bare = await submit('8e03978e-40d5-43dd-bc93-6894a57f9324');
    const quoted = await submit('"8e03978e-40d5-43dd-bc93-6894a57f9324"');
    expect(idOf(quoted)).toBe(idOf(bare));
  });

  it.each([
    ['one character', 'a'],
    ['255 characters', 'k'.repeat(255)],
    ['255 characters, quoted', `"${'q'.repeat(255)}"`],
    ['spaces and marks', 'order 7; "part" a/b = {c}'],
  ])('A key of %s is accepted', async (_form, key) => {
    const [first, second] = [await submit(key), await submit(key)];
    expect([first.status, second.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
  });

  it.each([
    ['empty', ''],
    ['empty in quotes', '""'],
    ['256 characters long', 'k'.repeat(256)],
    ['256 characters long in quotes', `"${'q'.repeat(256)}"`],
    ['not ASCII', 'clé'],
    ['interrupted by a tab', 'a\tb'],
  ])('A key that is %s is refused with 400, and the refusal names the header', async (_form, key) => {
    const answer = await submit(key);
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'Idempotency-Key: invalid_value']);
    expect(await charges()).toBe(0);
  });
});

everyAnswer(() => service);
