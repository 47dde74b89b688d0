import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { usableKey } from '../../src/options.ts';
import { version } from '../../src/version.ts';
import { credentialsOf } from '../config/credentials.ts';
import { mcpUrlBeside, readMcpUrl } from '../mcp/mcp-url.ts';
import { createRelay } from '../mcp/relay.ts';
import type { Run, Session } from '../session.ts';

interface McpOptions {
  readonly mcpUrl?: string;
}

export function addMcpCommand(program: Command, run: Run): void {
  program
    .command('mcp')
    .description('give the tools of the service to an agent that starts this command (MCP over stdio)')
    .option('--mcp-url <url>', 'the MCP endpoint; without it DARKROOM_MCP_URL, or /mcp beside the API')
    .action(run(mcp));
}

/** Runs until the host closes standard input. What was asked before is still answered. */
async function mcp({ io, options }: Session, { mcpUrl }: McpOptions): Promise<void> {
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
