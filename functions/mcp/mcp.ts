/** The Lambda function of the MCP endpoint: everything at mcpPath. */
import { streamed } from '../http/response-stream.ts';
import { mcpServices } from '../services/mcp.ts';
import { atFirstRequest } from '../services/open.ts';
import { serveMcp } from './serve-mcp.ts';

export const handler = streamed(serveMcp(atFirstRequest(mcpServices)));
