/** The ways in which the fake of Ideogram answers. */
import type { RefusalReason } from '../../../../core/provider.ts';
import type { Reply, VendorRow } from '../fake-vendor.ts';

export interface IdeogramRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
  /**
   * The answer to the submission. Absent: the fake accepts the job. A number is the status of a recorded answer,
   * whose body is in tools/vendors/answers/ideogram.json.
   */
  readonly submitted?: number | Reply;
  /** The answer to the first poll. */
  readonly firstPoll?: Reply;
  /** The answer to the poll of an ended job. Absent: the job is completed. 'recorded': as for `submitted`. */
  readonly ended?: 'recorded' | Reply;
  /** The answer to the first download. */
  readonly firstDownload?: Reply;
}

const prompt = { answers: 'prompt', ends: 'PromptRejected' } as const;
const ours = { answers: 'credentials', ends: 'ServiceUnavailable' } as const;
const away = { answers: 'unavailable', ends: 'ServiceUnavailable' } as const;
const failed = { answers: 'failed', ends: 'GenerationFailed' } as const;
const nothing = { answers: 'nothing_rendered', ends: 'NothingRendered' } as const;
const unknown = { answers: 'unknown_answer', ends: 'InternalFailure' } as const;
const lost = { answers: 'unknown_outcome', ends: 'InternalFailure' } as const;
const rendered = { answers: 'rendered', ends: 'completed' } as const;

export const ideogramRows: readonly IdeogramRow[] = [
  { row: 'success', says: 'completed after two polls', ...rendered },
  { row: 'unsafe-prompt', says: '422', ...prompt, submitted: 422 },
  { row: 'unsafe-picture', says: 'is_image_safe false and no address', ...prompt, ended: 'recorded' },
  { row: 'policy', says: 'failed, content_policy_violation', ...prompt, ended: 'recorded' },
  { row: 'failed', says: 'failed, for another reason', ...failed, ended: 'recorded' },
  {
    row: 'failed-silently',
    says: 'failed, without a reason',
    ...failed,
    ended: { status: 200, body: { generation_id: 'id', status: 'failed' } },
  },
  {
    row: 'no-picture',
    says: 'completed without a picture',
    ...nothing,
    ended: { status: 200, body: { generation_id: 'id', status: 'completed', data: [] } },
  },
  {
    row: 'empty-picture',
    says: 'a picture of no bytes',
    ...nothing,
    firstDownload: { status: 200, body: '' },
  },
  {
    row: 'page',
    says: 'a page in place of the picture',
    answers: 'rendered',
    ends: 'InternalFailure',
    firstDownload: { status: 200, body: '<html>' },
  },
  { row: 'throttled', says: '429 inflight_limit', ...away, submitted: 429 },
  { row: 'inflight', says: '402 inflight_limit', ...away, submitted: 402 },
  { row: 'down', says: '503', ...away, submitted: { status: 503, body: { error: 'Service unavailable.' } } },
  { row: 'funds', says: '402 insufficient_funds', ...ours, submitted: 402 },
  { row: 'unauthorized', says: '401', ...ours, submitted: 401 },
  { row: 'forbidden', says: '403', ...ours, submitted: 403 },
  {
    row: 'key-revoked',
    says: '401 when the job is polled',
    ...ours,
    firstPoll: { status: 401, body: { message: 'Access denied.' } },
  },
  {
    row: 'server-error',
    says: '500',
    ...lost,
    submitted: { status: 500, body: { error: 'Internal error.' } },
  },
  {
    row: 'break',
    says: 'the connection is closed after the submission',
    ...lost,
    submitted: { status: 'break' },
  },
  { row: 'invalid', says: '400 about a field that Darkroom sends', ...unknown, submitted: 400 },
  {
    row: 'model-missing',
    says: '404',
    ...unknown,
    submitted: { status: 404, body: { error: 'Not found.' } },
  },
  {
    row: 'unknown-shape',
    says: '200 without the id of a job',
    ...unknown,
    submitted: { status: 200, body: { created: 'now', data: [] } },
  },
  {
    row: 'redirect',
    says: '302 to another host',
    ...unknown,
    submitted: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  {
    row: 'unknown-state',
    says: 'an undocumented state',
    ...unknown,
    ended: { status: 200, body: { generation_id: 'id', status: 'paused' } },
  },
  {
    row: 'job-missing',
    says: '404 when the job is polled',
    ...unknown,
    firstPoll: { status: 404, body: { error: 'Generation not found.' } },
  },
  {
    row: 'foreign-picture',
    says: 'a picture on another host',
    ...unknown,
    ended: {
      status: 200,
      body: {
        status: 'completed',
        data: [{ url: 'https://ideogram.ai.example.com/a.png', is_image_safe: true }],
      },
    },
  },
  {
    row: 'picture-expired',
    says: '403 in place of the picture',
    ...unknown,
    firstDownload: { status: 403, body: '<html>403 Forbidden</html>' },
  },
  {
    row: 'poll-broke',
    says: 'the connection of the first poll is closed',
    ...rendered,
    firstPoll: { status: 'break' },
  },
  { row: 'poll-throttled', says: '429 to the first poll', ...rendered, firstPoll: { status: 429 } },
  { row: 'poll-down', says: '502 to the first poll', ...rendered, firstPoll: { status: 502 } },
  {
    row: 'download-broke',
    says: 'the connection of the first download is closed',
    ...rendered,
    firstDownload: { status: 'break' },
  },
];
