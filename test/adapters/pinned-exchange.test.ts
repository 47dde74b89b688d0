/** One HTTP exchange with addresses that were checked before. */
import { describe, expect, it } from 'vitest';
import { exchange, type Exchange } from '../../adapters/pinned-exchange.ts';
import { answering, failing, never, recordingServer } from './recording-server.ts';

const server = await recordingServer();

describe('One exchange', () => {
  const ask = (change: Partial<Exchange> = {}): ReturnType<typeof exchange> =>
    exchange({
      url: new URL(server.url()),
      addresses: [{ address: '127.0.0.1', family: 4 }],
      method: 'GET',
      headers: {},
      mostBytes: 10,
      signal: never,
      ...change,
    });

  it.each([
    [9, 9, false],
    [10, 10, false],
    [11, 10, true],
  ])(
    'An exchange of at most 10 bytes that is answered with %i keeps %i; the answer is cut: %j',
    async (sent, kept, cut) => {
      server.answerBy(answering(200, 'x'.repeat(sent), { location: '/next' }));
      expect(await ask()).toEqual({
        status: 200,
        location: '/next',
        headers: expect.objectContaining({ location: '/next' }) as object,
        body: Buffer.from('x'.repeat(kept)),
        cut,
      });
    },
  );

  it('An exchange connects to the addresses that were checked, whatever the name is', async () => {
    server.answerBy(answering(204));
    expect(await ask({ url: new URL(`http://nowhere.invalid:${server.port}/`) })).toEqual({
      status: 204,
      location: undefined,
      headers: expect.anything() as object,
      body: Buffer.alloc(0),
      cut: false,
    });
  });

  it('An exchange does not begin when its signal has aborted, and it throws the reason of the signal', async () => {
    const reason = new Error('over');
    await expect(ask({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.received).toHaveLength(0);
  });

  it('An exchange that takes too long says so, with the reason of the signal as the cause', async () => {
    const stop = new AbortController();
    const reason = new Error('over');
    server.answerBy(() => stop.abort(reason));
    const ended: unknown = await ask({ signal: stop.signal }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ message: 'the exchange took too long', cause: reason });
  });

  it('An exchange whose connection closes without an answer ends with the code ECONNRESET', async () => {
    const connect = failing();
    await expect(ask({ connect })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
