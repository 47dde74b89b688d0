import { streamed } from '../http/response-stream.ts';

/** POST /images/generations and /images/edits. */
export const handler = streamed(() =>
  Promise.resolve({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"created":0,"data":[]}',
  }),
);
