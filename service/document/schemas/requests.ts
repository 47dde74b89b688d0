/** A request of the log as its client sees it (requestView of service/api/list-requests.ts). */
import * as z from 'zod';
import { requestDoors } from '../../api/logged-refusal.ts';
import { problemStatus } from '../../values/problem.ts';
import { moment } from './values.ts';

export const requestDoor = z.enum(requestDoors).meta({
  id: 'RequestDoor',
  description: 'Where a request came in: this API, the OpenAI-shaped endpoint, MCP or the portal.',
});
export const requestOutcome = z.enum(['accepted', 'refused']);
export const problemCode = z.enum(Object.keys(problemStatus) as [string, ...string[]]);

const text = (description: string): z.ZodNullable<z.ZodString> => z.string().nullable().meta({ description });

const loggedRequest = z
  .object({
    created_at: moment('When the request was accepted or refused.'),
    outcome: requestOutcome,
    door: requestDoor
      .nullable()
      .meta({ description: 'null for an accepted request of another door than the portal.' }),
    method: text('null for an accepted request, as all members until message.'),
    path: text('With the query. Long words are cut.'),
    status: z.int().nullable().meta({ description: 'Of the answer.' }),
    code: problemCode.nullable(),
    reason: text('details.reason of the refusal.'),
    field: text('The first field that is wrong.'),
    message: text('The message of the refusal.'),
    key: z.string().meta({ description: 'The id of the key.' }),
    token: text('The id of the token of an end user that sent the request.'),
    request_id: text('X-Request-Id of the answer. null for an accepted request.'),
    duration_ms: z.int().min(0).nullable().meta({ description: 'From the arrival to the refusal.' }),
    address: text('The network of the client: /24 of IPv4, /48 of IPv6.'),
    body: text('The body without secrets and pictures: the beginning of a refused one, at most 1 KB.'),
    count: z.int().min(1).meta({
      description:
        'How many refusals this entry stands for. It shows the last of them when they are more than 1.',
    }),
    creation_id: text('The creation of an accepted request, the first of several. null for a refused one.'),
  })
  .meta({ id: 'LoggedRequest', description: 'An accepted or a refused request.' });

export const requestPage = z
  .object({
    data: z.array(loggedRequest).meta({ description: 'The newest first.' }),
    has_more: z.boolean(),
    next_cursor: text('The `cursor` of the next request. null when has_more is false.'),
  })
  .meta({ id: 'RequestPage', description: 'A page of requests. It may be short, or empty, with has_more.' });
