/** The operator's commands against the whole service. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/ids.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { movementsOf, settled, submit } from '../workflow/creations.ts';
import { admin, adminJson, refusal } from './admin-run.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
});
beforeEach(async () => {
  client = await service.client();
});
afterAll(() => service.end());

const run = (...args: readonly string[]): ReturnType<typeof adminJson> => adminJson(service.folder, ...args);
const refused = (...args: readonly string[]): Promise<string> => refusal(service.folder, ...args);
const hiddenOf = async (id: AccountId): Promise<readonly string[]> =>
  (await service.account(id)).policy.hiddenModels.toSorted();

describe('an account', () => {
  it('is renamed', async () => {
    expect(await run('accounts', 'set', client.account.id, '--name', 'Atelier Zoë')).toMatchObject({
      name: 'Atelier Zoë',
    });
  });

  it('keeps every model that two commands hide at the same time', async () => {
    const hide = (model: string): Promise<unknown> =>
      run('accounts', 'set', client.account.id, '--hide-model', model);
    await Promise.all([hide('sandbox-pro'), hide('sandbox-sketch'), hide('sandbox-standard')]);
    expect(await hiddenOf(client.account.id)).toEqual(['sandbox-pro', 'sandbox-sketch', 'sandbox-standard']);
    await run('accounts', 'set', client.account.id, '--show-model', 'sandbox-pro');
    expect(await hiddenOf(client.account.id)).toEqual(['sandbox-sketch', 'sandbox-standard']);
  });

  it.each([
    [['--providers', ''], '--providers: a name is missing; write none for no provider at all.'],
    [['--providers', 'sandbox,'], '--providers: a name is missing; write none for no provider at all.'],
    [['--name', ' '], '--name: must not be empty.'],
    [['--name', 'x'.repeat(101)], '--name: must have at most 100 characters.'],
    [['--name', 'a\u001b[2Jb'], '--name: must not contain control characters.'],
    [
      ['--credit-line', '999999999'],
      '--credit-line: what an account can spend must not exceed 1000000000.00 USD.',
    ],
  ])('is not changed by %j', async (options, sentence) => {
    const before = await service.account(client.account.id);
    expect(await refused('accounts', 'set', client.account.id, ...options)).toBe(sentence);
    expect(await service.account(client.account.id)).toEqual(before);
  });

  it('may use no provider when none is named', async () => {
    expect(await run('accounts', 'set', client.account.id, '--providers', 'none')).toMatchObject({
      providers: [],
    });
  });

  it('that was created without its opening balance is named, so that nobody creates a second one', async () => {
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      caller: 'operator',
      error: 'AccessDenied',
    });
    const sentence = await refused('accounts', 'create', '--name', 'half', '--balance', '5');
    const [, id = ''] =
      /^The account (\w{10}) was created, but its balance or credit line may be missing: /.exec(sentence) ??
      [];
    expect(
      await run('wallet', 'top-up', id, '--amount', '5', '--reference', 'opening balance'),
    ).toMatchObject({ balance: 5, already_applied: false });
  });

  it('is not created without a name, or with more than the largest amount', async () => {
    expect(await refused('accounts', 'create', '--name', '')).toBe('--name: must not be empty.');
    const amounts = ['--balance', '600000000', '--credit-line', '400000001'];
    expect(await refused('accounts', 'create', '--name', 'much', ...amounts)).toMatch(
      /must not exceed 1000000000\.00 USD\.$/,
    );
  });
});

describe('a key', () => {
  it('gets another cap, or none, and the next request knows it', async () => {
    const generate = async (): Promise<number> =>
      (
        await service.send('/images/generate', {
          key: client.key,
          body: { model: 'sandbox-sketch', prompt: 'a lake' },
        })
      ).status;
    const set = (cap: string): Promise<unknown> =>
      run('keys', 'set', client.account.id, client.record.id, '--monthly-cap', cap);
    expect(await set('0.001')).toMatchObject({ id: client.record.id, monthly_cap: 0.001 });
    expect(await generate()).toBe(402);
    expect(await set('none')).toMatchObject({ monthly_cap: null });
    expect(await generate()).toBe(202);
    expect(await refused('keys', 'set', client.account.id, 'Absent', '--monthly-cap', '1')).toMatch(
      /^The account has no key Absent: /,
    );
    expect(await refused('keys', 'create', client.account.id, '--name', '')).toBe(
      '--name: must not be empty.',
    );
  });

  it('is revoked although other transactions hold it, and the command says so', async () => {
    service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      caller: 'operator',
      error: 'TransactionConflict',
      match: 'revokedAt',
      times: 15,
    });
    const { code, complaint } = await admin(
      service.folder,
      'keys',
      'revoke',
      client.account.id,
      client.record.id,
    );
    expect(service.machine.faults.list()).toEqual([]);
    expect(code).toBe(0);
    expect(complaint).toContain(`The key ${client.record.id} is revoked from its next request on.`);
    expect((await service.send('/balance', { key: client.key })).status).toBe(401);
  });

  it('is revoked although the answers of the table are lost', async () => {
    service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      caller: 'operator',
      error: 'Timeout',
      when: 'after',
      match: 'revokedAt',
      times: 4,
    });
    expect((await admin(service.folder, 'keys', 'revoke', client.account.id, client.record.id)).code).toBe(0);
    expect(service.machine.faults.list()).toEqual([]);
    expect((await service.send('/balance', { key: client.key })).status).toBe(401);
  });

  it('works no more once its account is suspended, although the table was busy', async () => {
    service.machine.faults.set({
      call: 'dynamodb:UpdateItem',
      caller: 'operator',
      error: 'TransactionConflict',
      match: 'suspended',
      times: 15,
    });
    const { code, complaint } = await admin(
      service.folder,
      'accounts',
      'set',
      client.account.id,
      '--condition',
      'suspended',
    );
    expect(service.machine.faults.list()).toEqual([]);
    expect([code, complaint]).toEqual([
      0,
      expect.stringContaining(`The account ${client.account.id} is suspended from its next request on.`),
    ]);
    expect((await service.send('/balance', { key: client.key })).status).toBe(403);
  });
});

describe('a wallet', () => {
  const topUp = (amount: string, reference: string): string[] => [
    'wallet',
    'top-up',
    client.account.id,
    '--amount',
    amount,
    '--reference',
    reference,
  ];
  const adjust = (amount: string, ...more: string[]): string[] => [
    'wallet',
    'adjust',
    client.account.id,
    '--amount',
    amount,
    '--reason',
    'test',
    ...more,
  ];
  const kinds = async (): Promise<string[]> =>
    (await service.operator.wallet.ledger(client.account.id)).map(({ kind }) => kind);

  it('takes a reference once, and refuses it with another amount', async () => {
    expect(await run(...topUp('5', 'invoice-1'))).toMatchObject({
      balance: 30,
      amount: 5,
      already_applied: false,
    });
    expect(await run(...topUp('5', 'invoice-1'))).toMatchObject({
      balance: 30,
      amount: 0,
      already_applied: true,
    });
    const sentence =
      'The reference "invoice-1" stands for a top-up of 5.00 USD: nothing was changed. Use another reference.';
    expect(await refused(...topUp('6', 'invoice-1'))).toBe(sentence);
    expect(await refused(...adjust('5', '--reference', 'invoice-1'))).toBe(sentence);
    expect(await kinds()).toEqual(['top_up', 'top_up']);
  });

  it('is adjusted once for a reference, and each time without one', async () => {
    expect(await run(...adjust('-1', '--reference', 'credit-1'))).toMatchObject({
      balance: 24,
      amount: -1,
      already_applied: false,
    });
    expect(await run(...adjust('-1', '--reference', 'credit-1'))).toMatchObject({
      balance: 24,
      amount: 0,
      already_applied: true,
    });
    expect(await refused(...adjust('-2', '--reference', 'credit-1'))).toMatch(
      /stands for an adjustment of -1\.00 USD: /,
    );
    await run(...adjust('-1'));
    expect(await run(...adjust('-1'))).toMatchObject({ balance: 22, amount: -1 });
    const { data } = (await run('wallet', 'ledger', client.account.id)) as { data: { about: string }[] };
    expect(data.map(({ about }) => about)).toContain('credit-1: test');
  });

  it('is not taken below zero without --yes where nobody can be asked', async () => {
    const sentence = `This takes the balance of test (${client.account.id}) to -0.50 USD, below zero. Nothing was changed: add --yes if you mean it.`;
    expect(await refused(...adjust('-25.5'))).toBe(sentence);
    expect(await run(...adjust('-25.5', '--yes'))).toMatchObject({ balance: -0.5 });
  });

  it.each<[string, () => string[], RegExp]>([
    [
      'a reference of 201 characters',
      () => topUp('1', 'x'.repeat(201)),
      /^--reference: must have at most 200 characters\.$/,
    ],
    ['an empty reference', () => topUp('1', ''), /^--reference: must not be empty\.$/],
    [
      'a reference with control characters',
      () => topUp('1', 'a\nb'),
      /^--reference: must not contain control characters\.$/,
    ],
    [
      'a reason without end',
      () => ['wallet', 'adjust', client.account.id, '--amount', '1', '--reason', 'x'.repeat(501)],
      /^--reason: /,
    ],
    [
      'an amount that lifts it above 10^9 USD',
      () => topUp('999999975.000001', 'much'),
      /^--amount: .* nothing was changed\.$/,
    ],
  ])('refuses %s', async (_what, args, sentence) => {
    expect(await refused(...args())).toMatch(sentence);
    expect(await kinds()).toEqual(['top_up']);
  });

  it('takes a reference of 200 characters of any language', async () => {
    expect(await run(...topUp('1', '湖'.repeat(200)))).toMatchObject({ balance: 26 });
  });

  it('stays readable for its client whatever is added', async () => {
    for (let turn = 0; turn < 3; turn += 1)
      await admin(service.folder, ...topUp('1000000000', `much ${turn}`));
    await run(...topUp('999999975', 'as much as fits'));
    const { status, body } = (await service.send('/balance', { key: client.key })) as {
      status: number;
      body: object;
    };
    expect([status, body]).toMatchObject([200, { available: 1_000_000_000 }]);
  });

  it('of a busy table is told in one sentence', async () => {
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      caller: 'operator',
      error: 'TransactionConflict',
      times: 100,
    });
    const sentence = await refused(...topUp('1', 'busy'));
    service.machine.faults.clear();
    expect(sentence).toBe(
      'The table is too busy, and the change was not made: repeat the command in a moment.',
    );
    expect(await kinds()).toEqual(['top_up']);
  });
});

describe('a creation', () => {
  it('is shown with everything that was asked, and is found by its request', async () => {
    const answer = await service.send('/images/generate', {
      key: client.key,
      body: {
        model: 'sandbox-sketch',
        prompt: 'ein See',
        seed: 7,
        metadata: { order: 'A-1' },
        webhook_url: service.machine.inboxUrl,
      },
    });
    expect(answer.status).toBe(202);
    const { id } = answer.body as { id: string };
    await settled(service, id);
    const requestId = answer.headers.get('x-request-id') ?? '';
    const shown = await run('creations', 'show', id);
    expect(shown).toMatchObject({
      id,
      request_id: requestId,
      status: 'completed',
      prompt: 'ein See',
      seed: 7,
      output_format: 'png',
      metadata: { order: 'A-1' },
      sources: [],
      webhook: {
        url: service.machine.inboxUrl,
        status: 'delivered',
        attempts: 1,
        body: expect.stringContaining('creation.completed') as string,
      },
    });
    expect(await run('creations', 'find', requestId)).toEqual(shown);
    expect(await run('creations', 'find', requestId, '--account', client.account.id)).toEqual(shown);
    const other = await service.client();
    expect(await refused('creations', 'find', requestId, '--account', other.account.id)).toMatch(
      /^No creation of the last 7 days was made by the request /,
    );
    await service.machine.advance(8 * 86_400);
    expect(await refused('creations', 'find', requestId)).toMatch(/--days looks further back\.$/);
    expect(await run('creations', 'find', requestId, '--days', '9')).toMatchObject({ id });
    expect(JSON.stringify((await service.send(`/creations/${id}`, { key: client.key })).body)).not.toContain(
      requestId,
    );
  });

  it('is listed with the others of its account, the newest first, by status and model', async () => {
    const ids: string[] = [];
    for (const prompt of ['one', 'two [sandbox:fail]', 'three']) {
      ids.push(await submit(service, client.key, { prompt }));
      await settled(service, ids.at(-1) ?? '');
    }
    const list = async (...more: string[]): Promise<unknown[]> => {
      const { data } = (await run('creations', 'list', client.account.id, ...more)) as {
        data: { id: string }[];
      };
      return data.map(({ id }) => id);
    };
    // The index may lag by a moment.
    await expect.poll(() => list()).toEqual(ids.toReversed());
    expect(await list('--status', 'failed')).toEqual([ids[1]]);
    expect(await list('--model', 'sandbox-pro')).toEqual([]);
    expect(await list('--limit', '2')).toEqual([ids[2], ids[1]]);
    expect(await refused('creations', 'list', client.account.id, '--limit', '0')).toBe(
      '--limit: "0" is no whole number from 1 to 1000.',
    );
    expect(await refused('creations', 'list', client.account.id, '--status', 'done')).toBe(
      '--status: must be one of queued, processing, completed, failed.',
    );
  });
});

describe('a blocked address', () => {
  it('is shown and lifted; its next wrong key does not block it again', async () => {
    const from = '127.0.0.9';
    const wrong = (): Promise<{ status: number }> => service.send('/models', { key: 'nonsense', from });
    for (let time = 0; time < 20; time += 1) await wrong();
    expect((await wrong()).status).toBe(429);
    expect(await run('blocks', 'show', from)).toMatchObject({
      address: from,
      blocked: true,
      rejected_401: 20,
      closed_to_it: 'public API and portal API',
    });
    expect(await run('blocks', 'lift', from)).toMatchObject({
      blocked: false,
      rejected_401: 0,
      lifted: true,
    });
    expect((await wrong()).status).toBe(401);
    expect((await wrong()).status).toBe(401);
  });

  it('of IPv6 is the whole /64', async () => {
    expect(await run('blocks', 'show', '2001:db8:1:2::7')).toMatchObject({
      address: '2001:db8:1:2::/64',
      blocked: false,
    });
    expect(await run('blocks', 'show', '2001:db8:1:2::/64')).toMatchObject({ address: '2001:db8:1:2::/64' });
    expect(await refused('blocks', 'show', 'example.com')).toBe(
      '"example.com" is no IP address, such as 203.0.113.7 or 2001:db8:1:2::3.',
    );
  });
});

describe('providers check', () => {
  it('fails when there is nothing to check, and says what to do', async () => {
    const { code, out } = await admin(service.folder, 'providers', 'check');
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('No provider with a key is enabled: `providers set openai` sets one.'),
    ]);
    expect(await refused('providers', 'check', 'openai')).toBe(
      'openai has no key: `providers set openai` sets it.',
    );
  });
});

describe('a webhook’s log', () => {
  it('shows an answer that would move the terminal’s cursor as text', async () => {
    const id = await submit(service, client.key, { prompt: 'a lake', webhook_url: service.machine.inboxUrl });
    const record = await settled(service, id);
    expect(await movementsOf(service, record)).toEqual(['charge']);
    const [delivery] = await service.operator.deliveries.log(client.account.id, 1);
    if (!delivery) throw new Error('nothing was sent');
    await service.operator.deliveries.record({ ...delivery, responseExcerpt: '\u001b[2J\u009bgone' });
    const { out } = await admin(service.folder, 'webhooks', 'log', client.account.id);
    expect(out).toContain('\\u001b[2J\\u009bgone');
    const json = await admin(service.folder, '--json', 'webhooks', 'log', client.account.id);
    expect(json.out).not.toMatch(/[\u0080-\u009f]/);
    expect((JSON.parse(json.out) as { data: { response: string }[] }).data[0]?.response).toBe(
      '\u001b[2J\u009bgone',
    );
  });
});
