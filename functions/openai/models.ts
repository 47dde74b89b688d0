import { streamed } from '../http/response-stream.ts';

/** GET /models and /models/{id}, and every path of the OpenAI-shaped endpoint that no operation has. */
export const handler = streamed(() =>
  Promise.resolve({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"object":"list","data":[]}',
  }),
);
