/** Bodies that no client sends, over the whole service. */
import { describe, expect, it } from 'vitest';
import { answersStrangeBodies, type Body, form, lists, openDoors } from './strange-bodies.ts';

describe('drawn bodies', () => {
  answersStrangeBodies(60, 1);
});

describe('the bounds of a body', () => {
  const { doors, send } = openDoors();
  const at = async (name: string, sent: Body, isKeyless = false) => {
    const door = doors().find((one) => one.name === name);
    if (!door) throw new Error(`there is no ${name}`);
    return send(door, sent, isKeyless);
  };
  const json = (text: string): Body => ({ type: 'application/json', text });
  const deep = lists(20_000);
  const inField = json(`{"model":"sandbox-sketch","prompt":"a lake","ignored":${deep}}`);
  const broad = json(`{"model":"sandbox-sketch","prompt":"a lake","ignored":[${'0,'.repeat(1_000)}0]}`);

  it.each(['generateImage', 'createImages', 'editImages', 'createKey', 'createCreation', 'mcp'])(
    '%s answers 400 that names the bound of depth and the bound of size',
    async (name) => {
      const [one, other] = [await at(name, inField), await at(name, broad)];
      expect([one.status, one.text]).toEqual([
        400,
        expect.stringContaining('32 lists and objects inside each other'),
      ]);
      expect([other.status, other.text]).toEqual([400, expect.stringContaining('1000 members and items')]);
    },
  );

  it('MCP refuses in the form of JSON-RPC', async () => {
    const { text } = await at('mcp', json(deep));
    expect(JSON.parse(text)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_600, message: expect.stringContaining('32 lists and objects') as string },
    });
  });

  it('Without a key, a deep body is 401 at every door of the API', async () => {
    for (const name of ['generateImage', 'createImages', 'mcp', 'createKey'])
      expect((await at(name, json(deep), true)).status, name).toBe(401);
  });

  it('A form of 33 parts is 400 that names the bound, and one of 32 parts is read', async () => {
    const refused = await at('editImages', form(33));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('at most 32 parts')]);
    const read = await at('editImages', form(32));
    expect([read.status, read.text]).toEqual([400, expect.not.stringContaining('parts')]);
  });

  it('Metadata of a form that is too deep is 400', async () => {
    const { status, text } = await at('editImages', form(2, deep));
    expect([status, text]).toEqual([400, expect.stringContaining('metadata')]);
  });
});
