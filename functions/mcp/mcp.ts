/** The Lambda function of the MCP endpoint: everything at mcpPath. */
import { streamed } from '../http/response-stream.ts';
import { openMcp } from '../services/mcp.ts';
import { base, stoppingVendors, catalog, dynamodb, images, outbound, states } from '../services/lambda.ts';
import { atFirstRequest } from '../services/open.ts';
import { serveMcp } from './serve-mcp.ts';

export const handler = streamed(
  serveMcp(
    atFirstRequest(() =>
      openMcp({
        ...base(),
        dynamodb: dynamodb(),
        states: states(),
        images,
        outbound: outbound(),
        catalog,
        ...stoppingVendors(),
      }),
    ),
  ),
);
