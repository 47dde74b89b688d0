/** Where the MCP endpoint of a service is. */
import { CommandError } from '../exit-codes.ts';

/** The default addresses of AWS: each API has a host of its own there. */
const ownHost = /\.execute-api\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/;

/** The address as the person gave it. */
export function readMcpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new CommandError(
    'usage',
    `The address of the MCP endpoint is not valid: ${text}`,
    'Give it as https://darkroom.example/mcp, by --mcp-url or DARKROOM_MCP_URL.',
  );
}

/** On a domain of its own, a service has the endpoint beside its API. */
export function mcpUrlBeside(baseUrl: string): URL {
  const base = readMcpUrl(baseUrl);
  if (!ownHost.test(base.hostname)) return new URL('/mcp', base);
  throw new CommandError(
    'usage',
    `The MCP endpoint of ${base.hostname} has a host of its own.`,
    'Set DARKROOM_MCP_URL to the output McpUrl of the stack, or ask the operator of the service.',
  );
}
