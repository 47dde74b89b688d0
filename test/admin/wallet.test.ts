/** The command `wallet` against the whole service. */
import { describe, expect, it, afterEach } from 'vitest';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();

describe('a wallet', () => {
  const moving = (how: string, amount: string): string[] =>
    `wallet ${how} ${operated.client.account.id} --amount ${amount}`.split(' ');
  const topUp = (amount: string, reference: string): string[] => [
    ...moving('top-up', amount),
    ...['--reference', reference],
  ];
  const adjust = (amount: string, ...more: string[]): string[] => [
    ...moving('adjust', amount),
    ...['--reason', 'test', ...more],
  ];
  const kinds = async (): Promise<string[]> =>
    (await operated.service.operator.wallet.ledger(operated.client.account.id)).map(({ kind }) => kind);

  it('is topped up once for a reference, and a second amount with the same reference is refused', async () => {
    const fiveMore = topUp('5', 'invoice-1');
    const balance = 30;
    expect(await operated.run(...fiveMore)).toMatchObject({ balance, amount: 5, already_applied: false });
    expect(await operated.run(...fiveMore)).toMatchObject({ balance, amount: 0, already_applied: true });
    const sentence =
      'The reference "invoice-1" stands for a top-up of 5.00 USD: nothing was changed. Use another reference.';
    expect(await operated.refused(...topUp('6', 'invoice-1'))).toBe(sentence);
    expect(await operated.refused(...adjust('5', '--reference', 'invoice-1'))).toBe(sentence);
    expect(await kinds()).toEqual(['top_up', 'top_up']);
  });

  it('is adjusted once for a reference, and every time without a reference', async () => {
    const oneLess = adjust('-1', '--reference', 'credit-1');
    const balance = 24;
    expect(await operated.run(...oneLess)).toMatchObject({ balance, amount: -1, already_applied: false });
    expect(await operated.run(...oneLess)).toMatchObject({ balance, amount: 0, already_applied: true });
    expect(await operated.refused(...adjust('-2', '--reference', 'credit-1'))).toMatch(
      /stands for an adjustment of -1\.00 USD: /,
    );
    await operated.run(...adjust('-1'));
    expect(await operated.run(...adjust('-1'))).toMatchObject({ balance: 22, amount: -1 });
    expect(await operated.run('wallet', 'ledger', operated.client.account.id)).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ about: 'credit-1: test' })]) as unknown,
    });
  });

  it('does not go below zero without --yes when there is no terminal to ask on', async () => {
    const sentence = `This takes the balance of test (${operated.client.account.id}) to -0.50 USD, below zero. Nothing was changed: add --yes if you mean it.`;
    expect(await operated.refused(...adjust('-25.5'))).toBe(sentence);
    expect(await operated.run(...adjust('-25.5', '--yes'))).toMatchObject({ balance: -0.5 });
  });

  const control = /^--reference: must not contain control characters\.$/;
  it.each<[string, () => string[], RegExp]>([
    [
      'a long reference',
      () => topUp('1', 'x'.repeat(201)),
      /^--reference: must have at most 200 characters\.$/,
    ],
    ['an empty reference', () => topUp('1', ''), /^--reference: must not be empty\.$/],
    ['a reference with control characters', () => topUp('1', 'a\nb'), control],
    ['a long reason', () => [...moving('adjust', '1'), '--reason', 'x'.repeat(501)], /^--reason: /],
    ['too large an amount', () => topUp('999999975.000001', 'much'), /^--amount: .* nothing was changed\.$/],
  ])('stays as it is after a command with %s', async (_what, args, sentence) => {
    expect(await operated.refused(...args())).toMatch(sentence);
    expect(await kinds()).toEqual(['top_up']);
  });

  it('is topped up with a reference of 200 characters in any language', async () => {
    expect(await operated.run(...topUp('1', '湖'.repeat(200)))).toMatchObject({ balance: 26 });
  });

  it('stays readable for its client at the largest amount', async () => {
    for (let turn = 0; turn < 3; turn += 1) await operated.admin(...topUp('1000000000', `much ${turn}`));
    await operated.run(...topUp('999999975', 'as much as fits'));
    expect(await operated.service.send('/balance', { key: operated.client.key })).toMatchObject({
      status: 200,
      body: { available: 1_000_000_000 },
    });
  });

  it('stays as it is when the table is too busy, and the command says so in one sentence', async () => {
    operated.service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      caller: 'operator',
      error: 'TransactionConflict',
      times: 100,
    });
    const sentence = await operated.refused(...topUp('1', 'busy'));
    operated.service.machine.faults.clear();
    expect(sentence).toBe(
      'The table is too busy, and the change was not made: repeat the command in a moment.',
    );
    expect(await kinds()).toEqual(['top_up']);
  });
});

/** The command `service` against the whole service. */
describe('service close, open and show', () => {
  // The service is shared with other files.
  afterEach(async () => operated.run('service', 'open'));
  const body = { model: 'sandbox-sketch', prompt: 'a lake' };
  const send = (headers: Record<string, string> = {}) => {
    const { service, client } = operated;
    return service.send('/images/generate', { key: client.key, body, headers });
  };

  it('A closed service refuses a new creation with the message of the operator, and charges nothing', async () => {
    const { service, client } = operated;
    await operated.run('service', 'close', '--message', 'We move to a new table.');
    const balance = async (): Promise<unknown> => (await service.send('/balance', { key: client.key })).body;
    const before = await balance();
    const answer = await send();
    const error = { code: 'ERR_PROVIDER_UNAVAILABLE', message: 'We move to a new table.' };
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { ...error, details: { reason: 'overloaded' } } },
    });
    expect(answer.headers.get('retry-after')).toBe('60');
    expect(await balance()).toEqual(before);
  });

  it('An Idempotency-Key of an accepted creation still gets it, and an opened service accepts again', async () => {
    const key = { 'Idempotency-Key': 'before the close' };
    const accepted = await send(key);
    await operated.run('service', 'close');
    expect(await send(key)).toMatchObject({
      status: 202,
      body: { id: (accepted.body as { id: string }).id },
    });
    await operated.run('service', 'open');
    expect(await send()).toMatchObject({ status: 202 });
  });

  it('It shows message and time of the first close, and a second close changes the message alone', async () => {
    expect(await operated.run('service', 'show')).toMatchObject({
      closed: false,
      message: null,
      capacity: 2_000,
    });
    const first = (await operated.run('service', 'close', '--message', 'One.')) as Record<string, unknown>;
    const second = await operated.run('service', 'close', '--message', 'Two.');
    expect(second).toMatchObject({ closed: true, message: 'Two.', closed_since: first['closed_since'] });
    expect(await operated.run('service', 'open')).toMatchObject({ closed: false, closed_since: null });
  });

  it.each([
    ['', 'must not be empty'],
    ['a'.repeat(301), 'must have at most 300 characters'],
    ['a\u001bb', 'must not contain control characters'],
  ])('A message that is not fit to be shown is refused: %j', async (message, why) => {
    expect(await operated.refused('service', 'close', '--message', message)).toBe(`--message: ${why}.`);
    expect(await operated.run('service', 'show')).toMatchObject({ closed: false });
  });
});
