import { createInterface } from 'node:readline';
import { version } from '../../src/http/call.ts';
import { usableKey } from '../../src/options.ts';
import { CommandError } from '../complaint.ts';
import { credentialsOf } from '../profiles.ts';
import { createRelay } from '../relay.ts';
import type { SessionCommand, Session } from '../session.ts';

/** The default addresses of AWS: each API has a host of its own there. */
const ownHost = /\.execute-api\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/;

/** The address as the person gave it. */
function readMcpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new CommandError(
    'usage',
    `The address of the MCP endpoint is not valid: ${text}`,
    'Give it as https://darkroom.example/mcp, by --mcp-url or DARKROOM_MCP_URL.',
  );
}

/** On a domain of its own, a service has the endpoint beside its API. */
function mcpUrlBeside(baseUrl: string): URL {
  const base = readMcpUrl(baseUrl);
  if (!ownHost.test(base.hostname)) return new URL('/mcp', base);
  throw new CommandError(
    'usage',
    `The MCP endpoint of ${base.hostname} has a host of its own.`,
    'Set DARKROOM_MCP_URL to the output McpUrl of the stack, or ask the operator of the service.',
  );
}

export function addMcpCommand(program: SessionCommand): void {
  program
    .task('mcp', 'give the tools of the service to an agent that starts this command (MCP over stdio)')
    .option('--mcp-url <url>', 'the MCP endpoint; without it DARKROOM_MCP_URL, or /mcp beside the API')
    .run(mcp);
}

/** Runs until the host closes standard input. Earlier messages are still answered. */
async function mcp({ io, options }: Session, { mcpUrl }: { mcpUrl?: string }): Promise<void> {
  const given = mcpUrl ?? (io.env['DARKROOM_MCP_URL'] || undefined);
  const own = given === undefined ? undefined : readMcpUrl(given);
  // With an address of its own, the relay needs no address of the API.
  const env = own ? { ...io.env, DARKROOM_BASE_URL: own.origin } : io.env;
  const { home, err } = io;
  const { apiKey, baseUrl } = await credentialsOf({ env, home, err }, options.profile);
  const relay = createRelay({
    url: own ?? mcpUrlBeside(baseUrl),
    apiKey: usableKey(apiKey),
    userAgent: `darkroom-mcp/${version} (${io.uuid()})`,
    signal: io.signal,
    sleep: io.sleep,
    write: (line) => io.out.write(`${line}\n`),
    tell: (sentence) => io.err.write(`${sentence}\n`),
  });
  const lines = createInterface({ input: io.input });
  io.signal.addEventListener('abort', () => lines.close(), { once: true });
  const passing = new Set<Promise<void>>();
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const one = relay.pass(line).finally(() => passing.delete(one));
    passing.add(one);
  }
  await Promise.all(passing);
}
