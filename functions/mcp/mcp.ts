import { streamed } from '../http/response-stream.ts';

/** Everything at mcpPath. */
export const handler = streamed(() =>
  Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
);
