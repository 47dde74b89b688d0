import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { serverSentData } from '../../../client/command/relay.ts';
import { apiKeyText } from '../../fixtures/records.ts';
import { portOf } from '../../fixtures/values.ts';
import { mcpStage, type McpStage, rpc } from '../../mcp/mcp-fixture.ts';
import { served } from '../../mcp/clients.ts';
import { newPerson, type Said } from './command-run.ts';

const person = await newPerson();
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) server.close();
  await person.remove();
});

async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${portOf(server)}/mcp`;
}

/** Runs the relay over these lines, until all are answered. */
async function relayed(url: string, lines: readonly (object | string)[], key = apiKeyText): Promise<Said> {
  const input = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  return person.run(['mcp'], { input, env: { DARKROOM_API_KEY: key, DARKROOM_MCP_URL: url } });
}

interface Line {
  readonly id: string | number | null;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

const linesOf = ({ out }: Said): Line[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

async function withStage<Value>(stage: McpStage, use: (url: string) => Promise<Value>): Promise<Value> {
  const { url, end } = await served(stage);
  try {
    return await use(url.href);
  } finally {
    await end();
  }
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
};

describe('darkroom mcp', () => {
  it('passes the messages of 2026 on, each with its headers', async () => {
    const call = rpc('tools/call', { name: 'get_balance', arguments: {} }, 'two');
    const said = await withStage(mcpStage(), async (url) => relayed(url, [rpc('server/discover'), call]));
    expect([said.code, said.err]).toEqual([0, '']);
    const answers = new Map(linesOf(said).map((line) => [line.id, line.result]));
    expect(answers.get(1)?.['supportedVersions']).toEqual(['2026-07-28']);
    expect(answers.get('two')?.['structuredContent']).toMatchObject({ available: 25 });
  });

  it('passes the messages of 2025 on, which come back as a stream', async () => {
    const said = await withStage(mcpStage(), async (url) =>
      relayed(url, [
        initialize,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      ]),
    );
    expect(said.err).toBe('');
    const [first, second, ...more] = linesOf(said).toSorted((a, b) => Number(a.id) - Number(b.id));
    expect(first?.result).toMatchObject({ protocolVersion: '2025-06-18' });
    expect(second?.result?.['tools']).toHaveLength(7);
    expect(more).toEqual([]);
  });

  it('answers a wrong key under the id of the message', async () => {
    const said = await withStage(mcpStage(), async (url) => relayed(url, [initialize], 'dk_live_wrong'));
    expect(linesOf(said)).toMatchObject([{ id: 0, error: { message: 'The API key is not recognised.' } }]);
  });

  it('answers a line that is no message with an error', async () => {
    const said = await relayed('http://127.0.0.1:9/mcp', ['nothing', '', '[]']);
    expect(linesOf(said).map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32_700],
      [null, -32_700],
    ]);
  });

  it('sends a message again whose answer was lost', async () => {
    const arrived: unknown[] = [];
    const url = await listening((request, response) => {
      arrived.push(request.headers['user-agent']);
      if (arrived.length === 1) request.socket.destroy();
      else response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{}}');
    });
    const said = await relayed(url, [rpc('ping')]);
    expect(linesOf(said)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    // The endpoint knows the call again by its program.
    expect(arrived).toEqual([expect.stringMatching(/^darkroom-mcp\/[\d.]+ \([\w-]{36}\)$/), arrived[0]]);
  });

  it('says in one sentence when nobody answers, to the agent and in the log', async () => {
    const url = await listening((request) => void request.socket.destroy());
    const said = await relayed(url, [rpc('ping')]);
    const sentence = `${new URL(url).origin} cannot be reached: UND_ERR_SOCKET`;
    expect(linesOf(said)).toMatchObject([{ id: 1, error: { message: sentence } }]);
    expect(said.err).toBe(`${sentence}\n`);
  });

  it('says so when the address is another page, and asks it once', async () => {
    let asked = 0;
    const url = await listening((_request, response) => {
      asked += 1;
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}');
    });
    const said = await relayed(url, [rpc('ping')]);
    expect(linesOf(said)[0]?.error?.message).toBe(`${url} answered with 404 and no message of MCP.`);
    expect(asked).toBe(1);
  });

  it.each([
    [{}, 3, 'There is no API key.', 'Run `darkroom login`, or set DARKROOM_API_KEY.'],
    [{ DARKROOM_API_KEY: apiKeyText }, 2, 'The address of the service is missing.', 'Set DARKROOM_BASE_URL'],
    [
      { DARKROOM_API_KEY: apiKeyText, DARKROOM_BASE_URL: 'https://a1.execute-api.eu-west-1.amazonaws.com' },
      2,
      'The MCP endpoint of a1.execute-api.eu-west-1.amazonaws.com has a host of its own.',
      'Set DARKROOM_MCP_URL to the output McpUrl',
    ],
    [
      { DARKROOM_API_KEY: apiKeyText, DARKROOM_MCP_URL: 'mcp' },
      2,
      'The address of the MCP endpoint is not valid: mcp',
      'DARKROOM_MCP_URL',
    ],
    [
      { DARKROOM_API_KEY: 'dk_live_ä', DARKROOM_MCP_URL: 'https://a.test/mcp' },
      2,
      'The API key has characters that no key has. Copy it again.',
      '',
    ],
  ])('cannot start with %j, and says what to do', async (env, code, sentence, fix) => {
    const said = await person.run(['mcp'], { env });
    expect(said).toMatchObject({ code, out: '' });
    expect(said.err).toContain(sentence);
    expect(said.err).toContain(fix);
  });

  it('finds the endpoint beside the API', async () => {
    const said = await withStage(mcpStage(), async (url) =>
      person.run(['mcp'], {
        input: `${JSON.stringify(rpc('ping'))}\n`,
        env: {
          DARKROOM_API_KEY: apiKeyText,
          DARKROOM_BASE_URL: new URL('/api/public/v1', url).href,
        },
      }),
    );
    expect(linesOf(said)).toMatchObject([{ id: 1 }]);
    expect(said.err).toBe('');
  });
});

describe('the data of server-sent events', () => {
  it('is whole, wherever the parts of the body end', async () => {
    const text = ': keep-alive\n\nevent: message\nid: 1\ndata: {"a":"é"}\n\ndata: {"b":\r\ndata: 2}\r\n\r\n';
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 2, 7, bytes.length]) {
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.slice(index * size, (index + 1) * size),
      );
      const found: string[] = [];
      for await (const data of serverSentData(ReadableStream.from(parts))) found.push(data);
      expect(found).toEqual(['{"a":"é"}', '{"b":\n2}']);
    }
  });
});
