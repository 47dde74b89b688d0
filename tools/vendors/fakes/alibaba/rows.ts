/** The ways in which the fake of Alibaba Model Studio answers. */
import type { RefusalReason } from '../../../../core/provider.ts';
import type { Reply, VendorRow } from '../fake-vendor.ts';

export interface AlibabaRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
  /**
   * The answer to the submission. Absent: the fake renders a picture. A number is the status of a recorded answer,
   * whose body is in tools/vendors/answers/alibaba.json.
   */
  readonly reply?: number | Reply;
  /** The answers to the downloads in turn, before the picture. */
  readonly downloads?: readonly Reply[];
}

const prompt = { answers: 'prompt', ends: 'PromptRejected' } as const;
const badSource = { answers: 'source_image', ends: 'SourceImageRejected', sources: 1 } as const;
const ours = { answers: 'credentials', ends: 'ServiceUnavailable' } as const;
const away = { answers: 'unavailable', ends: 'ServiceUnavailable' } as const;
const failed = { answers: 'failed', ends: 'GenerationFailed' } as const;
const late = { answers: 'timed_out', ends: 'GenerationTimedOut' } as const;
const nothing = { answers: 'nothing_rendered', ends: 'NothingRendered' } as const;
const unknown = { answers: 'unknown_answer', ends: 'InternalFailure' } as const;
const rendered = { answers: 'rendered', ends: 'completed' } as const;

export const alibabaRows: readonly AlibabaRow[] = [
  { row: 'success', says: 'the address of a picture', ...rendered },
  { row: 'sources', says: 'a picture made from two source images', ...rendered, sources: 2 },
  { row: 'inspection-input', says: '400 DataInspectionFailed at the input', ...prompt, reply: 400 },
  { row: 'inspection-output', says: '400 DataInspectionFailed at the output', ...prompt, reply: 400 },
  { row: 'infringement', says: '400 IPInfringementSuspect', ...prompt, reply: 400 },
  { row: 'bad-source', says: '400 InvalidParameter.DataInspection', ...badSource, reply: 400 },
  {
    row: 'too-large',
    says: '413',
    ...badSource,
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
  },
  { row: 'throttled', says: '429 Throttling.RateQuota', ...away, reply: 429 },
  { row: 'quota', says: '429 Throttling.AllocationQuota', ...away, reply: 429 },
  { row: 'arrearage', says: '400 Arrearage', ...ours, reply: 400 },
  { row: 'free-tier', says: '403 AllocationQuota.FreeTierOnly', ...ours, reply: 403 },
  { row: 'key-refused', says: '401 InvalidApiKey', ...ours, reply: 401 },
  { row: 'payment', says: '402', ...ours, reply: { status: 402, body: {} } },
  { row: 'forbidden', says: '403 AccessDenied.Unpurchased', ...ours, reply: 403 },
  { row: 'model-missing', says: '404 ModelNotFound', ...ours, reply: 404 },
  { row: 'down', says: '503 ServiceUnavailable', ...away, reply: 503 },
  { row: 'error', says: '500 InternalError.Algo', ...failed, reply: 500 },
  { row: 'timed-out', says: '500 InternalError.Timeout', ...late, reply: 500 },
  {
    row: 'gateway-late',
    says: '504 of a proxy on the way',
    ...late,
    reply: { status: 504, body: '<html>504 Gateway Timeout</html>' },
  },
  {
    row: 'gateway',
    says: '502 of a proxy on the way',
    ...failed,
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  },
  { row: 'error-in-success', says: '200 with the code of an error', ...unknown, reply: 200 },
  {
    row: 'empty',
    says: '200 without a choice',
    ...nothing,
    reply: { status: 200, body: { output: { choices: [] } } },
  },
  {
    row: 'text-only',
    says: '200 with a text in place of the picture',
    ...nothing,
    reply: {
      status: 200,
      body: { output: { choices: [{ finish_reason: 'stop', message: { content: [{ text: 'No.' }] } }] } },
    },
  },
  { row: 'empty-picture', says: 'a picture of no bytes', ...nothing, downloads: [{ status: 200, body: '' }] },
  {
    row: 'no-picture',
    says: 'a page in place of the picture',
    answers: 'rendered',
    ends: 'InternalFailure',
    downloads: [{ status: 200, body: '<html>' }],
  },
  { row: 'other-refusal', says: '400 InvalidParameter', ...unknown, reply: 400 },
  {
    row: 'unknown-shape',
    says: '200 with a body of another shape',
    ...unknown,
    reply: { status: 200, body: { data: ['?'] } },
  },
  {
    row: 'foreign-picture',
    says: 'a picture on another host',
    ...unknown,
    reply: {
      status: 200,
      body: {
        output: {
          choices: [
            { message: { content: [{ image: 'https://oss-accelerate.aliyuncs.com.example.com/a.png' }] } },
          ],
        },
      },
    },
  },
  {
    row: 'picture-expired',
    says: '403 in place of the picture',
    ...unknown,
    downloads: [{ status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }],
  },
  {
    row: 'picture-moved',
    says: '302 in place of the picture',
    ...unknown,
    downloads: [{ status: 302, headers: { location: 'https://elsewhere.test/' } }],
  },
  {
    row: 'redirect',
    says: '302 to another host',
    ...unknown,
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  {
    row: 'break',
    says: 'a connection that is closed after the request',
    answers: 'unknown_outcome',
    ends: 'InternalFailure',
    reply: { status: 'break' },
  },
  {
    row: 'download-broke',
    says: 'the connection of the first download is closed',
    ...rendered,
    downloads: [{ status: 'break' }],
  },
  { row: 'download-down', says: '503 to the first download', ...rendered, downloads: [{ status: 503 }] },
];
