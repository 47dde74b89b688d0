/** Replicate on loopback: starting, processing, and then what the prompt asks for; inputs are checked at once. */
import { readFileSync } from 'node:fs';
import { readImageHeader } from '../../core/image-bytes.ts';
import type { OutputFormat } from '../../core/image-formats.ts';
import {
  rowOf,
  startFakeVendor,
  type FakeVendor,
  type Received,
  type Reply,
  type VendorRow,
} from './fake-vendor.ts';
import { pictureOf } from './pictures.ts';

/** Texts of failed predictions. */
const failures: readonly (readonly [row: string, error: string, ends: VendorRow['ends']])[] = [
  [
    'sensitive',
    'The input or output was flagged as sensitive. Please try again with different inputs. (E005) (uIJ6l3ruRD)',
    'PromptRejected',
  ],
  ['nsfw', 'NSFW content detected. Try running it again, or try a different prompt.', 'PromptRejected'],
  ['timeout', 'Prediction timed out while waiting for the model', 'GenerationTimedOut'],
  ['failed', 'Director: unexpected error handling prediction (E6716)', 'GenerationFailed'],
];

export const replicateRows: readonly VendorRow[] = [
  { row: 'success', says: 'starting, processing, succeeded', ends: 'completed' },
  { row: 'success-sources', says: 'succeeded, made of two source images', ends: 'completed', sources: 2 },
  ...failures.map(([row, error, ends]) => ({ row, says: `failed: ${error}`, ends })),
  { row: 'canceled', says: 'its deadline was over while it ran', ends: 'GenerationTimedOut' },
  { row: 'aborted', says: 'its deadline was over before it started', ends: 'GenerationTimedOut' },
  { row: 'no-output', says: 'succeeded without an output', ends: 'NothingRendered' },
  { row: 'empty-picture', says: 'a picture of no bytes', ends: 'NothingRendered' },
  { row: 'invalid-input', says: '422 about a field of ours', ends: 'InternalFailure' },
  { row: 'unknown-shape', says: '201 without an id', ends: 'InternalFailure' },
  { row: 'unknown-state', says: 'a state that nobody documents', ends: 'InternalFailure' },
  { row: 'foreign-picture', says: 'an output at another host', ends: 'InternalFailure' },
  { row: 'output-gone', says: 'the output is deleted', ends: 'InternalFailure' },
  { row: 'break', says: 'the connection is cut behind the submission', ends: 'InternalFailure' },
  { row: 'server-error', says: '500', ends: 'InternalFailure' },
  { row: 'throttled', says: '429', ends: 'ServiceUnavailable' },
  { row: 'down', says: '503', ends: 'ServiceUnavailable' },
  { row: 'unauthorized', says: '401', ends: 'ServiceUnavailable' },
  { row: 'insufficient-credit', says: '402', ends: 'ServiceUnavailable' },
  { row: 'forbidden', says: '403', ends: 'ServiceUnavailable' },
  { row: 'key-revoked', says: '401 when it is polled', ends: 'ServiceUnavailable' },
  { row: 'poll-broke', says: 'the first poll is cut', ends: 'completed' },
  { row: 'poll-throttled', says: '429 to the first poll', ends: 'completed' },
  { row: 'poll-down', says: '502 to the first poll', ends: 'completed' },
  { row: 'download-broke', says: 'the first download is cut', ends: 'completed' },
];

interface Input {
  readonly prompt: string;
  readonly output_format: 'png' | 'jpg' | 'webp';
  readonly width?: number;
  readonly height?: number;
  readonly aspect_ratio?: string;
}

interface Job {
  readonly id: string;
  readonly model: string;
  readonly row: string;
  readonly input: Input;
  polls: number;
  downloads: number;
  isCanceled: boolean;
}

interface State {
  readonly origin: string;
  readonly jobs: Map<string, Job>;
  /** Addresses of uploaded files. */
  readonly files: Set<string>;
}

const large = {
  images: 'input_images',
  mostImages: 8,
  fields: ['width', 'height', 'resolution', 'safety_tolerance'],
};
const models: Readonly<Record<string, typeof large>> = {
  'black-forest-labs/flux-2-pro': large,
  'black-forest-labs/flux-2-max': large,
  'black-forest-labs/flux-2-klein-4b': {
    images: 'images',
    mostImages: 5,
    fields: ['output_megapixels', 'go_fast', 'disable_safety_checker'],
  },
};
const commonFields = ['prompt', 'aspect_ratio', 'seed', 'output_format', 'output_quality'];
const ratios = ['1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3', 'match_input_image'];
const mostInline = 256_000;

const unauthorized: Reply = {
  status: 401,
  body: { title: 'Unauthenticated', detail: 'You did not pass a valid authentication token', status: 401 },
};
const throttled: Reply = {
  status: 429,
  body: { detail: 'Request was throttled. Your rate limit resets in ~30s.', status: 429 },
};
const atOnce: Readonly<Record<string, Reply>> = {
  unauthorized,
  throttled,
  break: { status: 'break' },
  hang: { status: 'hang' },
  down: { status: 503, body: { detail: 'Service unavailable', status: 503 } },
  'server-error': { status: 500, body: { detail: 'Internal server error', status: 500 } },
  'insufficient-credit': { status: 402, body: recorded('insufficient-credit') },
  forbidden: { status: 403, body: { title: 'Forbidden', detail: 'You may not run this model', status: 403 } },
  'invalid-input': { status: 422, body: recorded('invalid-input') },
  'unknown-shape': { status: 201, body: { prediction: 'created' } },
};
const atFirstPoll: Readonly<Record<string, Reply>> = {
  'poll-broke': { status: 'break' },
  'poll-throttled': throttled,
  'poll-down': { status: 502, body: '<html>Bad Gateway</html>' },
};

export async function startFakeReplicate(): Promise<FakeVendor & { jobs(): number }> {
  const jobs = new Map<string, Job>();
  const files = new Set<string>();
  const vendor = await startFakeVendor((request, origin) => {
    const { method, path } = request;
    const state: State = { origin, jobs, files };
    const [, , what = '', name = '', rest = ''] = path.split('/');
    if (method === 'GET' && path.startsWith('/xezq/')) return deliver(jobs.get(what));
    if (request.headers['authorization'] !== 'Bearer fake-replicate-key') return unauthorized;
    if (method === 'GET' && path === '/v1/account')
      return { status: 200, body: { type: 'organization', username: 'acme' } };
    if (method === 'POST' && path === '/v1/files') return upload(request, state);
    if (method === 'POST' && what === 'models') return create(request, state);
    const job = what === 'predictions' ? jobs.get(name) : undefined;
    if (!job)
      return { status: 404, body: { detail: 'The requested resource could not be found.', status: 404 } };
    if (method === 'POST' && rest === 'cancel') job.isCanceled = true;
    else if (method === 'GET' && rest === '') return poll(job, origin);
    return { status: 200, body: prediction(job, origin, 'canceled') };
  });
  return { ...vendor, jobs: () => jobs.size };
}

function create({ path, headers, json }: Received, { origin, jobs, files }: State): Reply {
  const model = /^\/v1\/models\/([\w-]+\/[\w.-]+)\/predictions$/.exec(path)?.[1] ?? '';
  if (!Object.hasOwn(models, model))
    return { status: 404, body: { detail: 'The requested resource could not be found.', status: 404 } };
  const { input, ...others } = (json ?? {}) as { readonly input?: Input & Record<string, unknown> };
  const wrong =
    input && Object.keys(others).length === 0 ? wrongField(input, models[model] ?? large, files) : 'input';
  const deadline = headers['cancel-after'];
  if (
    headers['content-type'] !== 'application/json' ||
    wrong !== undefined ||
    !input ||
    (deadline !== undefined && !/^(\d+[hms]?)+$/.test(deadline))
  ) {
    return {
      status: 422,
      body: {
        ...recorded('invalid-input'),
        invalid_fields: [{ type: 'refused', field: `input.${wrong ?? ''}`, description: 'refused' }],
      },
    };
  }
  const row = rowOf(input.prompt) ?? 'success';
  if (Object.hasOwn(atOnce, row)) return atOnce[row] ?? { status: 500 };
  const job = {
    id: `m420tb253nrm60cj09c8${String(jobs.size + 1).padStart(6, '0')}`,
    model,
    row,
    input,
    polls: 0,
    downloads: 0,
    isCanceled: false,
  };
  jobs.set(job.id, job);
  return { status: 201, body: prediction(job, origin, 'starting') };
}

/** The first field of the input that the model's schema refuses. */
function wrongField(
  input: Input & Record<string, unknown>,
  model: typeof large,
  files: ReadonlySet<string>,
): string | undefined {
  const unknown = Object.keys(input).find(
    (name) => ![...commonFields, ...model.fields, model.images].includes(name),
  );
  const isSide = (side: unknown): boolean =>
    side === undefined ||
    (Number.isInteger(side) && Number(side) >= 256 && Number(side) <= 2048 && Number(side) % 16 === 0);
  const isCustom = model === large && input.aspect_ratio === 'custom';
  const quality = Number(input['output_quality'] ?? 80);
  const images = input[model.images] ?? [];
  const isFile = (address: unknown): boolean => {
    if (typeof address !== 'string') return false;
    const bytes = Buffer.from(/^data:image\/\w+;base64,(.+)$/.exec(address)?.[1] ?? '', 'base64');
    return files.has(address) || (bytes.byteLength <= mostInline && readImageHeader(bytes) !== undefined);
  };
  if (unknown !== undefined) return unknown;
  if (typeof input.prompt !== 'string') return 'prompt';
  if (!isCustom && !ratios.includes(input.aspect_ratio ?? '1:1')) return 'aspect_ratio';
  if (!isSide(input.width) || (isCustom && input.width === undefined)) return 'width';
  if (!isSide(input.height) || (isCustom && input.height === undefined)) return 'height';
  if (input['seed'] !== undefined && !Number.isInteger(input['seed'])) return 'seed';
  if (!['webp', 'jpg', 'png'].includes(input.output_format)) return 'output_format';
  if (!(quality >= 0 && quality <= 100)) return 'output_quality';
  if (![1, 2, 3, 4, 5].includes(Number(input['safety_tolerance'] ?? 2))) return 'safety_tolerance';
  if (!['1', '2'].includes((input['output_megapixels'] ?? '1') as string)) return 'output_megapixels';
  return Array.isArray(images) && images.length <= model.mostImages && images.every(isFile)
    ? undefined
    : model.images;
}

function upload({ headers, body }: Received, { origin, files }: State): Reply {
  const type = /name="content"; filename="[^"]{1,255}"\r\nContent-Type: (image\/\w+)\r\n/.exec(
    body.subarray(0, 1_000).toString('latin1'),
  )?.[1];
  if (!headers['content-type']?.startsWith('multipart/form-data; boundary=') || type === undefined)
    return { status: 400, body: { detail: 'Missing content', status: 400 } };
  const file = recorded('file', { id: `cneqzikepnug6xezperrr4z5${files.size}`, type, origin }) as {
    readonly urls: { readonly get: string };
  };
  files.add(file.urls.get);
  return { status: 201, body: file };
}

function poll(job: Job, origin: string): Reply {
  const { id, row } = job;
  job.polls += 1;
  if (job.isCanceled) return { status: 200, body: prediction(job, origin, 'canceled') };
  if (job.polls === 1 && Object.hasOwn(atFirstPoll, row)) return atFirstPoll[row] ?? { status: 500 };
  if (row === 'key-revoked') return unauthorized;
  if (job.polls <= 2)
    return { status: 200, body: prediction(job, origin, job.polls === 1 ? 'starting' : 'processing') };
  const failure = failures.find(([name]) => name === row)?.[1];
  if (failure !== undefined)
    return { status: 200, body: { ...prediction(job, origin, 'failed'), error: failure } };
  if (row === 'canceled' || row === 'aborted') return { status: 200, body: prediction(job, origin, row) };
  if (row === 'unknown-state') return { status: 200, body: prediction(job, origin, 'paused') };
  const address = `${row === 'foreign-picture' ? 'https://replicate.delivery.example.com' : origin}/xezq/${id}/out-0.${job.input.output_format}`;
  const output = models[job.model] === large ? address : [address];
  return {
    status: 200,
    body: { ...prediction(job, origin, 'succeeded'), output: row === 'no-output' ? null : output },
  };
}

function deliver(job: Job | undefined): Reply {
  if (!job || job.row === 'output-gone') return { status: 404, body: 'Not Found' };
  job.downloads += 1;
  if (job.row === 'download-broke' && job.downloads === 1) return { status: 'break' };
  const { output_format: extension, width = 1024, height = 1024 } = job.input;
  const format: OutputFormat = extension === 'jpg' ? 'jpeg' : extension;
  return {
    status: 200,
    headers: { 'content-type': `image/${format}` },
    body: job.row === 'empty-picture' ? '' : pictureOf(format, width, height),
  };
}

function prediction({ id, model }: Job, origin: string, status: string): object {
  return recorded('prediction', { id, model, origin, status });
}

/** An answer as documented, from tools/vendors/answers/replicate. */
function recorded(name: string, { id = '', model = '', origin = '', status = '', type = '' } = {}): object {
  const text = readFileSync(new URL(`./answers/replicate/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(
    text
      .replaceAll('<id>', id)
      .replaceAll('<model>', model)
      .replaceAll('<origin>', origin)
      .replaceAll('<status>', status)
      .replaceAll('<type>', type),
  ) as object;
}
