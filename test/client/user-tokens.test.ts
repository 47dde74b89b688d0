/** The library in a page: tokens from its server, and again when they end. */
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Darkroom, DarkroomError } from '../../client/src/index.ts';
import { withMachinery } from '../../client/src/http/machinery.ts';
import { startTestService } from '../fixtures/service.ts';
import { json, refusal, stub, thrownBy } from './stub.ts';

const service = await startTestService();
afterAll(() => service.end());

const tokenOf = (name: string): string => `dk_user_${name.repeat(50).slice(0, 50)}`;
const minted = (name: string, seconds: number): { token: string; expires_at: string } => ({
  token: tokenOf(name),
  expires_at: new Date(Date.UTC(2026, 10, 22, 12) + seconds * 1000).toISOString(),
});
const ended = (): Response =>
  refusal(401, 'ERR_API_KEY_INVALID', { reason: 'api_key_invalid', token: 'expired' });

describe('the option userToken', () => {
  it('T24: Two tabs ask the server of the page once each for an expired token, and no call fails', async () => {
    const client = await service.client();
    const server = new Darkroom({ apiKey: client.key, baseUrl: service.machine.apiUrl });
    const { clock } = service.machine;
    const tab = () => {
      let asked = 0;
      const userToken = async () => {
        asked += 1;
        return server.userTokens.create({ user: 'alice', spendLimit: 1, expiresIn: 60 });
      };
      const options = { userToken, baseUrl: service.machine.apiUrl };
      // The clock of the page stands still, so that only the 401 says that the token has ended.
      const page = new Darkroom(withMachinery(options, { now: () => 0 }));
      return { page, asked: () => asked };
    };
    const tabs = [tab(), tab()];
    const calls = async (): Promise<unknown> =>
      Promise.all(
        tabs.flatMap(({ page }) => [
          page.models.list(),
          page.images.quote({ model: 'sandbox-sketch', prompt: 'a lake' }),
          page.images.generate({ model: 'sandbox-sketch', prompt: 'a lake' }),
        ]),
      );
    await calls();
    expect(tabs.map(({ asked }) => asked())).toEqual([1, 1]);
    clock.jumpTo(clock.freeze() + 61_000);
    clock.thaw();
    await calls();
    expect(tabs.map(({ asked }) => asked())).toEqual([2, 2]);
    const [creation] = await Promise.all([
      tabs[0]?.page.images.generate({ model: 'sandbox-sketch', prompt: 'a lake' }),
    ]);
    expect(creation).toMatchObject({ user: 'alice' });
    expect(creation).not.toHaveProperty('webhook');
  }, 60_000);

  it('A token is asked for again 30 s before it ends', async () => {
    const userToken = vi.fn().mockResolvedValueOnce(minted('a', 31)).mockResolvedValue(minted('b', 300));
    const { darkroom, sent } = stub(() => json({ data: [] }), { apiKey: undefined, userToken });
    await darkroom.models.list();
    await darkroom.models.list();
    expect(userToken).toHaveBeenCalledTimes(1);
    const early = vi.fn().mockResolvedValueOnce(minted('a', 30)).mockResolvedValue(minted('b', 300));
    const second = stub(() => json({ data: [] }), { apiKey: undefined, userToken: early });
    await second.darkroom.models.list();
    await second.darkroom.models.list();
    expect(early).toHaveBeenCalledTimes(2);
    expect([...sent, ...second.sent].map(({ headers }) => headers.get('authorization')?.at(-1))).toEqual([
      'a',
      'a',
      'a',
      'b',
    ]);
  });

  it('A token that has ended is asked for once more, and a second refusal reaches the caller', async () => {
    const userToken = vi.fn().mockImplementation(() => Promise.resolve(minted('a', 300)));
    const { darkroom, sent } = stub([ended(), ended()], { apiKey: undefined, userToken });
    expect(await thrownBy(darkroom.models.list())).toMatchObject({ code: 'ERR_API_KEY_INVALID' });
    expect([userToken.mock.calls.length, sent.length]).toEqual([2, 2]);
  });

  it('An error of the question reaches the caller, and the next call asks again', async () => {
    const userToken = vi
      .fn()
      .mockRejectedValueOnce(new Error('signed out'))
      .mockResolvedValue(minted('a', 300));
    const { darkroom } = stub([json({ data: [] })], { apiKey: undefined, userToken });
    expect(await thrownBy(darkroom.models.list())).toMatchObject({ message: 'signed out' });
    expect(await darkroom.models.list()).toEqual([]);
  });

  it('A key is refused instead of a token, and so are both together', async () => {
    const key = `dk_live_${'k'.repeat(40)}`;
    const userToken = () => Promise.resolve({ ...minted('a', 300), token: key });
    const { darkroom, sent } = stub([], { apiKey: undefined, userToken });
    const error = await thrownBy(darkroom.models.list());
    expect(error).toBeInstanceOf(DarkroomError);
    expect(String(error)).not.toContain(key);
    expect(sent).toEqual([]);
    expect(() => new Darkroom({ apiKey: key, userToken, baseUrl: 'https://darkroom.test' })).toThrow(
      'Give apiKey or userToken, not both.',
    );
  });

  it('A page may have the option, and sends no header that the service does not allow', async () => {
    vi.stubGlobal('window', { document: {} });
    const userToken = () => Promise.resolve(minted('a', 300));
    const { darkroom, sent } = stub([json({})], { apiKey: undefined, userToken });
    await darkroom.images.generate({ model: 'sandbox-sketch', prompt: 'a lake' });
    vi.unstubAllGlobals();
    expect([...(sent[0]?.headers.keys() ?? [])].sort()).toEqual([
      'accept',
      'authorization',
      'content-type',
      'idempotency-key',
    ]);
  });
});
