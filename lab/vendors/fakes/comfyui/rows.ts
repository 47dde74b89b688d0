/** The ways in which the fake of ComfyUI answers. The statuses before the queue are those of a proxy in front of it. */
import type { RefusalReason } from '../../../../service/contract/failures.ts';
import type { Reply, VendorRow } from '../fake-vendor.ts';

export interface ComfyuiRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
  /** The answer to the workflow. Absent: the fake puts it into its queue. */
  readonly submitted?: Reply;
  /** The answer to the first look at the history. */
  readonly firstPoll?: Reply;
  /** The answer to every look at the history after the first. */
  readonly laterPolls?: Reply;
  /** How the workflow ends. Absent: with a picture. 'lost': the server was restarted. */
  readonly ended?:
    | 'interrupted'
    | 'lost'
    | 'error'
    | { readonly exception: string }
    | { readonly outputs: object };
  /** The answer to the first download. */
  readonly firstDownload?: Reply;
}

const ours = { answers: 'credentials', ends: 'ServiceUnavailable' } as const;
const away = { answers: 'unavailable', ends: 'ServiceUnavailable' } as const;
const failed = { answers: 'failed', ends: 'GenerationFailed' } as const;
const nothing = { answers: 'nothing_rendered', ends: 'NothingRendered' } as const;
const unknown = { answers: 'unknown_answer', ends: 'InternalFailure' } as const;
const lost = { answers: 'unknown_outcome', ends: 'InternalFailure' } as const;
const rendered = { answers: 'rendered', ends: 'completed' } as const;
const stopped = { answers: 'cancelled', ends: 'GenerationTimedOut' } as const;

/** An answer of ComfyUI to a workflow that it does not take. */
const nodeErrors = {
  error: {
    type: 'prompt_outputs_failed_validation',
    message: 'Prompt outputs failed validation',
    details: 'Value not in list: ckpt_name',
    extra_info: {},
  },
  node_errors: {
    '4': {
      errors: [
        { type: 'value_not_in_list', message: 'Value not in list', details: 'ckpt_name', extra_info: {} },
      ],
      dependent_outputs: ['9'],
      class_type: 'CheckpointLoaderSimple',
    },
  },
};

export const comfyuiRows: readonly ComfyuiRow[] = [
  { row: 'success', says: 'a picture after two looks', ...rendered },
  { row: 'source', says: 'a picture made from a source image', ...rendered, sources: 1 },
  {
    row: 'preview-too',
    says: 'a preview before the picture that it saved',
    ...rendered,
    ended: {
      outputs: {
        '1': { images: [{ filename: 'gone.png', subfolder: '', type: 'temp' }] },
        '9': { images: [{ filename: 'darkroom_00001_.png', subfolder: '', type: 'output' }] },
      },
    },
  },
  {
    row: 'full-queue',
    says: '429, as the queue is full',
    ...away,
    submitted: { status: 429, body: 'Too many requests' },
  },
  { row: 'down', says: '503', ...away, submitted: { status: 503, body: 'Service Unavailable' } },
  {
    row: 'server-error',
    says: '500',
    ...lost,
    submitted: { status: 500, body: '500 Internal Server Error' },
  },
  { row: 'bad-gateway', says: '502', ...lost, submitted: { status: 502, body: '<html>Bad Gateway</html>' } },
  {
    row: 'break',
    says: 'the connection is closed after the submission',
    ...lost,
    submitted: { status: 'break' },
  },
  { row: 'unauthorized', says: '401', ...ours, submitted: { status: 401, body: 'Unauthorized' } },
  { row: 'forbidden', says: '403', ...ours, submitted: { status: 403, body: 'Forbidden' } },
  { row: 'payment', says: '402', ...ours, submitted: { status: 402, body: 'Payment Required' } },
  { row: 'key-revoked', says: '401 when the job is looked at', ...ours, firstPoll: { status: 401 } },
  {
    row: 'node-errors',
    says: '400 about a file that it does not have',
    ...unknown,
    submitted: { status: 400, body: nodeErrors },
  },
  {
    row: 'unknown-shape',
    says: '200 without the id of a job',
    ...unknown,
    submitted: { status: 200, body: { number: 1 } },
  },
  {
    row: 'redirect',
    says: '302 to another host',
    ...unknown,
    submitted: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  { row: 'execution-error', says: 'a node fails', ...failed, ended: { exception: 'RuntimeError' } },
  { row: 'silent-error', says: 'failed, without a reason', ...failed, ended: 'error' },
  {
    row: 'out-of-memory',
    says: 'the memory of the GPU is full',
    ...away,
    ended: { exception: 'torch.OutOfMemoryError' },
  },
  {
    row: 'bad-source',
    says: 'a node cannot read the source image',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    sources: 1,
    ended: { exception: 'PIL.UnidentifiedImageError' },
  },
  { row: 'interrupted', says: 'somebody interrupts the job', ...stopped, ended: 'interrupted' },
  { row: 'lost', says: 'a restart loses the job', ...stopped, ended: 'lost' },
  { row: 'no-picture', says: 'no node has saved a picture', ...nothing, ended: { outputs: {} } },
  {
    row: 'text-only',
    says: 'a node that shows a text',
    ...nothing,
    ended: { outputs: { '9': { text: ['a cat'] } } },
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
  { row: 'picture-gone', says: '404 in place of the picture', ...unknown, firstDownload: { status: 404 } },
  {
    row: 'nameless-picture',
    says: 'a picture without a name',
    ...unknown,
    ended: { outputs: { '9': { images: [{ type: 'output' }] } } },
  },
  {
    row: 'unknown-history',
    says: 'a history that is no JSON',
    ...unknown,
    firstPoll: { status: 200, body: '<html>' },
  },
  {
    row: 'unknown-outputs',
    says: 'an entry without outputs',
    ...unknown,
    laterPolls: { status: 200, body: { '<id>': { status: {} } } },
  },
  {
    row: 'poll-broke',
    says: 'the connection of the first look is closed',
    ...rendered,
    firstPoll: { status: 'break' },
  },
  { row: 'poll-throttled', says: '429 to the first look', ...rendered, firstPoll: { status: 429 } },
  { row: 'poll-down', says: '502 to the first look', ...rendered, firstPoll: { status: 502 } },
  {
    row: 'download-broke',
    says: 'the connection of the first download is closed',
    ...rendered,
    firstDownload: { status: 'break' },
  },
];
