/** The command `service` against the whole service. */
import { afterEach, describe, expect, it } from 'vitest';
import { useOperatedService } from './operated-service.ts';

const operated = useOperatedService();

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
    expect(answer).toMatchObject({
      status: 503,
      body: {
        error: {
          code: 'ERR_PROVIDER_UNAVAILABLE',
          message: 'We move to a new table.',
          details: { reason: 'overloaded' },
        },
      },
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
