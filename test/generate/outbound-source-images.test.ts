/** How the source image at an address of a client is fetched. */
import { describe, expect, it } from 'vitest';
import { answering, never, openLimits, outbound, recordingServer } from '../outbound/recording-server.ts';

const server = await recordingServer();

describe('A source image that is fetched', () => {
  it('A source image is requested with these headers and without a body', async () => {
    server.answerBy(answering(200, 'bytes'));
    const clock = openLimits();
    expect(await outbound({ clock }).fetchSource(server.url('/a.png'), never)).toEqual({
      kind: 'fetched',
      bytes: Buffer.from('bytes'),
    });
    expect(server.received.map(({ line, headers }) => [line, headers])).toEqual([
      [
        'GET /a.png',
        {
          host: `127.0.0.1:${server.port}`,
          connection: 'close',
          'user-agent': 'Darkroom/1',
          accept: 'image/jpeg, image/png, image/webp',
          'accept-encoding': 'identity',
        },
      ],
    ]);
    expect([clock.asked, clock.released()]).toEqual([[5_000], 1]);
  });

  it.each([
    [10_000_000, 'fetched'],
    [10_000_001, 'too_large'],
  ])('A source image of %i bytes is %s', async (bytes, kind) => {
    server.answerBy(answering(200, Buffer.alloc(bytes)));
    expect((await outbound().fetchSource(server.url(), never)).kind).toBe(kind);
  });

  it('A redirect without a location fails, and a location that is no URL is refused', async () => {
    server.answerBy(answering(302));
    expect(await outbound().fetchSource(server.url(), never)).toEqual({ kind: 'failed', retryable: false });
    server.answerBy(answering(302, '', { location: 'http://[' }));
    expect(await outbound().fetchSource(server.url(), never)).toEqual({
      kind: 'refused',
      why: 'must be an http or https address',
    });
  });
});
