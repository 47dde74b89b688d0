/**
 * The fake of Replicate. A prediction is starting, then processing, and then ends as its prompt asks. The
 * fake checks the input when the prediction is created.
 */
import * as z from 'zod';
import type { OutputFormat } from '../../../../service/contract/request-fields.ts';
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
  reply,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { failures, formatSchema, large, models, replicateRows, wrongField } from './rows.ts';

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
  'insufficient-credit': problem(
    402,
    'You have insufficient credit to run this model. Go to https://replicate.com/account/billing#billing to purchase credit.',
    'Insufficient credit',
  ),
  forbidden: problem(403, 'You may not run this model', 'Forbidden'),
  'invalid-input': invalidInput('number_lte', 'input.width', 'Must be less than or equal to 2048'),
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

function invalidInput(type: string, field: string, description: string): Reply {
  const invalid_fields = [{ type, field, description }];
  const detail = `- ${field}: ${description}\n`;
  return reply(422, { detail, status: 422, title: 'Input validation failed', invalid_fields });
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
    return invalidInput('refused', `input.${wrong ?? ''}`, 'refused');
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
  const id = `cneqzikepnug6xezperrr4z5${files.size}`;
  const get = `${origin}/v1/files/${id}`;
  files.add(get);
  return reply(201, {
    id,
    name: 'source',
    content_type: type,
    size: 300000,
    etag: '1c1a2bd5b31a5e3f',
    checksums: { sha256: 'f047f8e745f9996c6e386064e06cb2007b8e6bc0a968a334fc0d2b2d64012066' },
    metadata: {},
    created_at: '2026-11-21T12:00:00.000Z',
    expires_at: '2026-11-22T12:00:00.000Z',
    urls: { get },
  });
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
  const get = `${origin}/v1/predictions/${id}`;
  return {
    id,
    model,
    version: 'hidden',
    input: { prompt: 'the whole prompt comes back here' },
    logs: '',
    output: null,
    data_removed: false,
    error: null,
    source: 'api',
    status,
    created_at: '2026-11-21T12:00:00.000Z',
    deadline: '2026-11-21T12:15:00.000Z',
    urls: {
      cancel: `${get}/cancel`,
      get,
      stream: `https://stream.replicate.com/v1/files/${id}`,
      web: `https://replicate.com/p/${id}`,
    },
  };
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
