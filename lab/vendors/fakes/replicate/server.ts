/**
 * The fake of Replicate. A prediction is starting, then processing, and then ends as its prompt asks. The
 * fake checks the input when the prediction is created.
 */
import * as z from 'zod';
import type { OutputFormat } from '../../../../service/contract/request-fields.ts';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { callingBack, type CallingVendor, createReplicateSigner } from '../calls-back.ts';
import { type Fake, plainFields, withJobs } from '../facts.ts';
import {
  download,
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Pixels,
  pixelsNear,
  type Received,
  recordedAnswer,
  reply,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { failures, type FakeModel, large, models, replicateRows } from './rows.ts';

const formatSchema = z.enum(['png', 'jpg', 'webp']);
type Format = z.infer<typeof formatSchema>;

interface Job {
  readonly id: string;
  readonly model: string;
  readonly row: string;
  readonly picture: Pixels & { readonly format: Format };
  readonly callbackUrl: string | undefined;
  /** The prediction has ended, however rarely it was polled. */
  isFinished: boolean;
  polls: number;
  downloads: number;
  isCanceled: boolean;
}

interface State {
  readonly origin: string;
  readonly jobs: Map<string, Job>;
  /** The addresses of uploaded files. */
  readonly files: Set<string>;
}

const commonFields = ['prompt', 'aspect_ratio', 'output_format', 'output_quality'];
/** Of FLUX 3. The adapter sends no such field to other models. */
const classes = ['768sq', '1k', '1.5k', '2k', '4k'];
const mostInline = 256_000;

const unauthorized = problem(401, 'You did not pass a valid authentication token', 'Unauthenticated');
const throttled = problem(429, 'Request was throttled. Your rate limit resets in ~30s.');
const missing = problem(404, 'The requested resource could not be found.');
const atOnce: Readonly<Record<string, Reply>> = {
  unauthorized,
  throttled,
  break: { status: 'break' },
  hang: { status: 'hang' },
  down: problem(503, 'Service unavailable'),
  'server-error': problem(500, 'Internal server error'),
  'insufficient-credit': reply(402, recorded('insufficient-credit')),
  forbidden: problem(403, 'You may not run this model', 'Forbidden'),
  'invalid-input': reply(422, recorded('invalid-input')),
  'unknown-shape': reply(201, { prediction: 'created' }),
};
const atFirstPoll: Readonly<Record<string, Reply>> = {
  'poll-broke': { status: 'break' },
  'poll-throttled': throttled,
  'poll-down': reply(502, '<html>Bad Gateway</html>'),
};

function problem(status: number, detail: string, title?: string): Reply {
  return reply(status, { ...(title !== undefined && { title }), detail, status });
}

export async function startFakeReplicate(paint: Paint = pictureOf): Promise<CallingVendor> {
  const jobs = new Map<string, Job>();
  const signer = createReplicateSigner();
  const files = new Set<string>();
  const vendor = await startFakeVendor((request, origin) => {
    const { method, path } = request;
    const state: State = { origin, jobs, files };
    const [, , what = '', name = '', rest = ''] = path.split('/');
    if (method === 'GET' && path.startsWith('/xezq/')) return deliver(jobs.get(what), paint);
    if (request.headers['authorization'] !== 'Bearer fake-replicate-key') return unauthorized;
    if (method === 'GET' && path === '/v1/account')
      return reply(200, { type: 'organization', username: 'acme' });
    if (method === 'GET' && path === '/v1/webhooks/default/secret') return signer.secret();
    if (method === 'POST' && path === '/v1/files') return upload(request, state);
    if (method === 'POST' && what === 'models') return create(request, state);
    const job = what === 'predictions' ? jobs.get(name) : undefined;
    if (!job) return missing;
    if (method === 'POST' && rest === 'cancel') return cancel(job, origin);
    return poll(job, origin);
  });
  const sign: Parameters<typeof callingBack>[0]['sign'] = (id, options) => {
    const job = jobs.get(id);
    const body = job ? endOf(job, vendor.url) : { id };
    return signer.sign(id, { ...body, ...options.more }, options);
  };
  return { ...callingBack({ vendor, jobs, sign }), ...signer.source };
}

/** The answer is the prediction as it is. With the row `keeps-rendering` it continues. */
function cancel(job: Job, origin: string): Reply {
  const isOver = job.isFinished || job.polls > 2;
  if (!isOver && job.row !== 'keeps-rendering') job.isCanceled = true;
  const state = job.isCanceled ? 'canceled' : 'processing';
  return reply(200, isOver ? endOf(job, origin) : prediction(job, origin, state));
}

/** The fields of a request that ask for a callback. */
const callbackSchema = z.strictObject({
  webhook: z.url().optional(),
  webhook_events_filter: z.array(z.enum(['start', 'output', 'logs', 'completed'])).optional(),
});

function create({ path, headers, json }: Received, { origin, jobs, files }: State): Reply {
  const model = /^\/v1\/models\/([\w-]+\/[\w.-]+)\/predictions$/.exec(path)?.[1] ?? '';
  if (!Object.hasOwn(models, model)) return missing;
  const { input: sent, ...others } = fieldsOf(json);
  const input = fieldsOf(sent);
  const { success: isCallable, data: called } = callbackSchema.safeParse(others);
  const wrong = sent !== undefined && isCallable ? wrongField(input, models[model] ?? large, files) : 'input';
  const deadline = headers['cancel-after'];
  if (
    headers['content-type'] !== 'application/json' ||
    wrong !== undefined ||
    (deadline !== undefined && !/^(\d+[hms]?)+$/.test(deadline))
  ) {
    const field = { type: 'refused', field: `input.${wrong ?? ''}`, description: 'refused' };
    return reply(422, { ...recorded('invalid-input'), invalid_fields: [field] });
  }
  const row = rowOf(input['prompt']) ?? 'success';
  if (Object.hasOwn(atOnce, row)) return atOnce[row] ?? { status: 500 };
  const job = {
    id: `m420tb253nrm60cj09c8${String(jobs.size + 1).padStart(6, '0')}`,
    model,
    row,
    picture: { ...pixelsOf(input), format: formatSchema.parse(input['output_format']) },
    callbackUrl: called?.webhook,
    isFinished: false,
    polls: 0,
    downloads: 0,
    isCanceled: false,
  };
  jobs.set(job.id, job);
  return reply(201, prediction(job, origin, 'starting'));
}

/** The name of the first field of the input that the model's schema refuses. */
function wrongField(input: Fields, model: FakeModel, files: ReadonlySet<string>): string | undefined {
  const unknown = Object.keys(input).find(
    (name) => ![...commonFields, ...model.fields, model.images].includes(name),
  );
  const isSide = (side: unknown): boolean =>
    side === undefined ||
    (Number.isInteger(side) && Number(side) >= 256 && Number(side) <= 2048 && Number(side) % 16 === 0);
  const { prompt, width, height, aspect_ratio: ratio = '1:1' } = input;
  const isCustom = ratio === 'custom';
  const quality = Number(input['output_quality'] ?? 80);
  const images = input[model.images] ?? [];
  const isFile = (address: unknown): boolean => {
    if (typeof address !== 'string') return false;
    const bytes = Buffer.from(/^data:image\/\w+;base64,(.+)$/.exec(address)?.[1] ?? '', 'base64');
    return files.has(address) || (bytes.byteLength <= mostInline && readImageHeader(bytes) !== undefined);
  };
  if (unknown !== undefined) return unknown;
  if (typeof prompt !== 'string') return 'prompt';
  if (!model.ratios.includes(String(ratio))) return 'aspect_ratio';
  if (!isSide(width) || (isCustom && width === undefined)) return 'width';
  if (!isSide(height) || (isCustom && height === undefined)) return 'height';
  if (input['seed'] !== undefined && !Number.isInteger(input['seed'])) return 'seed';
  if (!formatSchema.safeParse(input['output_format']).success) return 'output_format';
  if (!(quality >= 0 && quality <= 100)) return 'output_quality';
  if (![1, 2, 3, 4, 5].includes(Number(input['safety_tolerance'] ?? 2))) return 'safety_tolerance';
  const { resolution = '1k' } = input;
  if (typeof resolution !== 'string' || !classes.includes(resolution)) return 'resolution';
  if (typeof (input['grounding'] ?? true) !== 'boolean') return 'grounding';
  const { output_megapixels: megapixels = '1' } = input;
  if (megapixels !== '1' && megapixels !== '2') return 'output_megapixels';
  return Array.isArray(images) && images.length <= model.mostImages && images.every(isFile)
    ? undefined
    : model.images;
}

function pixelsOf({ width, height, resolution, aspect_ratio: ratio }: Fields): Pixels {
  if (typeof width === 'number' && typeof height === 'number') return { width, height };
  return typeof resolution === 'string' && typeof ratio === 'string'
    ? pixelsNear(resolution, ratio)
    : { width: 1024, height: 1024 };
}

function upload({ headers, body }: Received, { origin, files }: State): Reply {
  const type = /name="content"; filename="[^"]{1,255}"\r\nContent-Type: (image\/\w+)\r\n/.exec(
    body.subarray(0, 1_000).toString('latin1'),
  )?.[1];
  if (!headers['content-type']?.startsWith('multipart/form-data; boundary=') || type === undefined)
    return problem(400, 'Missing content');
  const file = recorded('file', { id: `cneqzikepnug6xezperrr4z5${files.size}`, type, origin });
  files.add(String(fieldsOf(file['urls'])['get']));
  return reply(201, file);
}

function poll(job: Job, origin: string): Reply {
  const { row } = job;
  job.polls += 1;
  if (job.isCanceled) return reply(200, prediction(job, origin, 'canceled'));
  if (job.polls === 1 && Object.hasOwn(atFirstPoll, row)) return atFirstPoll[row] ?? { status: 500 };
  if (row === 'key-revoked') return unauthorized;
  if (row === 'job-missing') return missing;
  if ((job.polls <= 2 || row === 'keeps-rendering') && !job.isFinished)
    return reply(200, prediction(job, origin, job.polls === 1 ? 'starting' : 'processing'));
  return reply(200, endOf(job, origin));
}

/** A prediction that has ended. */
function endOf(job: Job, origin: string): Fields {
  const { id, row } = job;
  const failure = failures.find(([name]) => name === row)?.[1];
  if (failure !== undefined) return { ...prediction(job, origin, 'failed'), error: failure };
  if (row === 'canceled' || row === 'aborted') return prediction(job, origin, row);
  if (row === 'unknown-state') return prediction(job, origin, 'paused');
  const address = `${row === 'foreign-picture' ? 'https://replicate.delivery.example.com' : origin}/xezq/${id}/out-0.${job.picture.format}`;
  const output = models[job.model]?.hasList === true ? [address] : address;
  const metrics = { predict_time: 4.25, total_time: 4.5 };
  return { ...prediction(job, origin, 'succeeded'), output: row === 'no-output' ? null : output, metrics };
}

function deliver(job: Job | undefined, paint: Paint): Reply {
  if (!job || job.row === 'output-gone') return reply(404, 'Not Found');
  const { format: extension, width, height } = job.picture;
  const format: OutputFormat = extension === 'jpg' ? 'jpeg' : extension;
  return download(job, format, paint(format, width, height));
}

function prediction({ id, model }: Job, origin: string, status: string): Fields {
  return recorded('prediction', { id, model, origin, status });
}

function recorded(name: string, values?: Readonly<Record<string, string>>): Fields {
  return recordedAnswer('replicate', name, values);
}

export const fakeReplicate: Fake = {
  start: startFakeReplicate,
  rows: replicateRows,
  key: 'fake-replicate-key',
  model: 'flux-2-pro',
  ways: {
    ...withJobs,
    'refused prompt': 'sensitive',
    'refused source': {
      cannot: 'Not verified: the words by which a model refuses a source image. It fails, and is refunded.',
    },
    'out of credit': 'insufficient-credit',
    'failed at the vendor': 'failed',
    'moved elsewhere': 'foreign-picture',
    'no picture': 'no-output',
    'timed out at the vendor': 'timeout',
    'stopped at the vendor': 'canceled',
    'job lost': 'job-missing',
  },
  honours: plainFields,
};
