/** How the source image at an address of a client is fetched. */
import { describe, expect, it } from 'vitest';
import { answering, never, openLimits, outbound, recordingServer, type Handle } from './recording-server.ts';

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
    [200, { kind: 'fetched', bytes: Buffer.alloc(0) }],
    [299, { kind: 'fetched', bytes: Buffer.alloc(0) }],
    [300, { kind: 'failed', retryable: false }],
    [304, { kind: 'failed', retryable: false }],
    [404, { kind: 'failed', retryable: false }],
    [428, { kind: 'failed', retryable: false }],
    [429, { kind: 'failed', retryable: true }],
    [430, { kind: 'failed', retryable: false }],
    [499, { kind: 'failed', retryable: false }],
    [500, { kind: 'failed', retryable: true }],
    [503, { kind: 'failed', retryable: true }],
  ])('A source image that is answered with status %i is %j', async (status, result) => {
    server.answerBy(answering(status));
    expect(await outbound().fetchSource(server.url(), never)).toEqual(result);
  });

  it.each([
    [10_000_000, 'fetched'],
    [10_000_001, 'too_large'],
  ])('A source image of %i bytes is %s', async (bytes, kind) => {
    server.answerBy(answering(200, Buffer.alloc(bytes)));
    expect((await outbound().fetchSource(server.url(), never)).kind).toBe(kind);
  });

  it.each([301, 302, 303, 307, 308])(
    'A redirect with status %i to a relative address is followed',
    async (status) => {
      server.answerBy((request, response) => {
        if (request.url === '/first') response.writeHead(status, { location: 'second' }).end();
        else response.end('bytes');
      });
      expect(await outbound().fetchSource(server.url('/first'), never)).toMatchObject({ kind: 'fetched' });
      expect(server.received.map(({ line }) => line)).toEqual(['GET /first', 'GET /second']);
    },
  );

  it.each([300, 304, 305, 306, 309])('A location with status %i is not followed', async (status) => {
    server.answerBy(answering(status, '', { location: '/second' }));
    expect(await outbound().fetchSource(server.url(), never)).toEqual({ kind: 'failed', retryable: false });
    expect(server.received).toHaveLength(1);
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

  it('Three redirects are followed, and the fourth one fails for good', async () => {
    const after =
      (count: number): Handle =>
      (request, response) => {
        const hop = Number(request.url?.slice(1));
        if (hop < count) response.writeHead(302, { location: `/${hop + 1}` }).end();
        else response.end('bytes');
      };
    server.answerBy(after(3));
    expect(await outbound().fetchSource(server.url('/0'), never)).toMatchObject({ kind: 'fetched' });
    server.answerBy(after(4));
    expect(await outbound().fetchSource(server.url('/0'), never)).toEqual({
      kind: 'failed',
      retryable: false,
    });
    expect(server.received.at(-1)?.line).toBe('GET /3');
  });

  it('A source image whose name does not resolve may be tried again', async () => {
    const resolve = (): Promise<never[]> => Promise.resolve([]);
    expect(await outbound({ resolve }, 'public').fetchSource('https://example.com/', never)).toEqual({
      kind: 'failed',
      retryable: true,
    });
  });
});
