/** The MCP server of one request. The protocol keeps no state, so each request has a server of its own. */
import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { shown } from './tools/schemas.ts';
import type { TellProgress, Tool } from './tools/tool.ts';
import { tools } from './tools/tools.ts';

const instructions = `Darkroom generates images for money.
generate_image charges its price at once and waits for the image. If the wait ends first, the image is still being rendered: call get_creation with the id of the result. Do not call generate_image again, because that pays for another image.
A creation that fails is refunded in full.
quote_image tells a price before it is paid, and max_cost refuses a higher one. get_balance tells what can be spent.
An address in result_url can be shown or downloaded by everyone who has it, until it expires.`;

/** @param run runs the tool that the request calls */
export function createServer(run: (tool: Tool, tell?: TellProgress) => Promise<CallToolResult>): McpServer {
  const server = new McpServer(
    { name: 'darkroom', title: 'Darkroom', version: '1.0.0' },
    // The list of tools never changes while the server runs.
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) {
    const { name, title, description, annotations, input, output } = tool;
    const config = {
      title,
      description,
      annotations,
      inputSchema: shown(input),
      outputSchema: shown(output),
    };
    server.registerTool(name, config, (_args, context) => run(tool, progressOf(context)));
  }
  return server;
}

/** Undefined when the client did not ask for progress. */
function progressOf({ mcpReq }: ServerContext): TellProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return async (progress, total, message) => {
    const params = { progressToken, progress, total, message };
    // A client that has gone hears nothing. The result of its call is the same.
    await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
