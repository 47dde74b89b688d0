/** The Lambda function of the MCP endpoint: everything at mcpPath. */
import { streamed } from '../service/api/response-stream.ts';
import { openMcp } from '../service/mcp/open.ts';
import { serveMcp } from '../service/mcp/serve-mcp.ts';
import { base } from '../service/platform/lambda-base.ts';
import {
  catalog,
  dynamodb,
  images,
  outbound,
  resultSigner,
  states,
  stoppingVendors,
} from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = streamed(
  serveMcp(
    atFirstRequest(() =>
      openMcp({
        ...base(),
        dynamodb: dynamodb(),
        resultSigner: resultSigner(),
        states: states(),
        images,
        outbound: outbound(),
        catalog,
        ...stoppingVendors(),
      }),
    ),
  ),
);
