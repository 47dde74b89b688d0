/**
 * The fake of fal. A job is queued, then in progress, then completed. As at fal, only the answer to the request
 * for the result names the wrong field of the input.
 */
import * as z from 'zod';
import { callingBack, type CallingVendor, createFalSigner } from '../calls-back.ts';
import { type Fake, plainFields, withJobs } from '../facts.ts';
import {
  download,
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  reply,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { fakeModels, falRows, modelCodes, platformCodes, sizeOf, wrongField } from './rows.ts';

interface Job {
  readonly id: string;
  readonly app: string;
  readonly row: string;
  readonly body: Fields;
  /** The name of the first field that the model refuses. */
  readonly wrong: string | undefined;
  readonly callbackUrl: string | undefined;
  /** The job has ended, however rarely it was polled. */
  isFinished: boolean;
  isCancelled: boolean;
  polls: number;
  results: number;
  downloads: number;
}

const formatSchema = z.enum(['jpeg', 'png', 'webp']);

const unauthorized = detailed(401, 'Authentication is required to access this application.');
const exhausted =
  'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.';
const atOnce: Readonly<Record<string, Reply>> = {
  unauthorized,
  break: { status: 'break' },
  hang: { status: 'hang' },
  throttled: detailed(429, 'Too many requests'),
  down: detailed(503, 'Service unavailable'),
  'server-error': detailed(500, 'Internal server error'),
  'payment-required': detailed(402, 'Payment required'),
  locked: detailed(403, exhausted),
  'unknown-shape': reply(200, { request: 'accepted' }),
};

const flagged = {
  msg: 'The content could not be processed because it contained material flagged by a content checker.',
  type: 'content_policy_violation',
  url: 'https://docs.fal.ai/errors#content_policy_violation',
  input: { prompt: 'the whole prompt comes back here' },
};

/** How fal names what is wrong. */
function detailed(status: number, detail: unknown, more: Fields = {}): Reply {
  return reply(status, { detail, ...more });
}

export async function startFakeFal(paint: Paint = pictureOf): Promise<CallingVendor> {
  const jobs = new Map<string, Job>();
  const signer = createFalSigner();
  const vendor = await startFakeVendor((request, origin) => {
    const { method, path } = request;
    const picture = /^\/files\/b\/koala\/(.+)$/.exec(path)?.[1];
    if (method === 'GET' && picture !== undefined) return deliver(jobs.get(picture), paint);
    if (method === 'GET' && path === '/.well-known/jwks.json') return signer.keys();
    if (request.headers['authorization'] !== 'Key fake-fal-key') return unauthorized;
    if (method === 'GET' && path.startsWith('/v1/models/pricing?endpoint_id='))
      return reply(200, { prices: [{ unit_price: 0.03, unit: 'megapixels', currency: 'USD' }] });
    const [, app = '', id = '', what = ''] =
      /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/status|\/cancel)?$/.exec(path) ?? [];
    if (method === 'POST' && id === '') return submit(request, jobs, origin);
    const job = jobs.get(id);
    if (job?.app !== app) return detailed(404, 'Request not found');
    if (method === 'PUT' && what === '/cancel') return cancel(job);
    if (method !== 'GET' || what === '/cancel') return detailed(405, 'Method Not Allowed');
    return what === '/status' ? statusOf(job, origin) : resultOf(job, origin);
  });
  const sign: Parameters<typeof callingBack>[0]['sign'] = (id, options) =>
    signer.sign(id, { ...calledBodyOf(id, jobs.get(id), vendor.url), ...options.more }, options);
  return { ...callingBack({ vendor, jobs, sign }), ...signer.source };
}

/**
 * The vendor only tries to stop a request. With the row `keeps-rendering` the request continues; with
 * `stops-late` it continues until it is finished, and ends as stopped.
 */
function cancel(job: Job): Reply {
  if (job.polls > 2 || job.isFinished) return reply(400, { status: 'ALREADY_COMPLETED' });
  job.isCancelled = job.row !== 'keeps-rendering';
  return reply(202, { status: 'CANCELLATION_REQUESTED' });
}

/** What fal sends when a request has ended. */
function calledBodyOf(id: string, job: Job | undefined, origin: string): Fields {
  const { status, body: payload } = job ? endOf(job, origin) : reply(200, {});
  const ids = { request_id: id, gateway_request_id: id };
  return status === 200
    ? { ...ids, status: 'OK', payload }
    : { ...ids, status: 'ERROR', error: `Unexpected status code: ${status}`, payload };
}

function submit(request: Received, jobs: Map<string, Job>, origin: string): Reply {
  const { pathname, searchParams } = new URL(request.path, origin);
  const name = pathname.slice(1);
  const callbackUrl = searchParams.get('fal_webhook') ?? undefined;
  const model = fakeModels.find(({ path, editPath }) => path === name || editPath === name);
  if (!model) return detailed(404, `Application '${name}' not found`);
  const body = fieldsOf(request.json);
  const row = rowOf(body['prompt']) ?? 'success';
  if (Object.hasOwn(atOnce, row)) return atOnce[row] ?? { status: 500 };
  const id = `019ef3ca-bf2e-71b2-b3b6-${String(jobs.size + 1).padStart(12, '0')}`;
  const app = name.split('/').slice(0, 2).join('/');
  const wrong =
    request.headers['content-type'] === 'application/json'
      ? wrongField(body, model, model.editPath === name)
      : 'body';
  jobs.set(id, {
    id,
    app,
    row,
    body,
    wrong,
    callbackUrl,
    isFinished: false,
    isCancelled: false,
    polls: 0,
    results: 0,
    downloads: 0,
  });
  const elsewhere = { status_url: 'https://queue.fal.run.example.com/status' };
  const accepted = { ...standing({ id, app }, origin, 'IN_QUEUE'), queue_position: 1 };
  return reply(200, { ...accepted, ...(row === 'foreign-status-url' && elsewhere) });
}

/** The answer about a request that has not failed. */
function standing({ id, app }: Pick<Job, 'id' | 'app'>, origin: string, status: string): Fields {
  const url = `${origin}/${app}/requests/${id}`;
  const urls = { response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
  return { status, request_id: id, ...urls, logs: null, metrics: {} };
}

function statusOf(job: Job, origin: string): Reply {
  const { row } = job;
  const inState = (status: string): Fields => standing(job, origin, status);
  job.polls += 1;
  if (job.polls === 1 && row === 'poll-broke') return { status: 'break' };
  if (job.polls === 1 && row === 'poll-throttled') return detailed(429, 'Too many requests');
  if (row === 'key-revoked') return unauthorized;
  if (row === 'job-missing') return detailed(404, 'Not found');
  const isOver = job.isFinished || (job.isCancelled && row !== 'stops-late');
  const isSlow = row === 'keeps-rendering' || row === 'stops-late';
  if (job.polls === 1 && !isOver) return reply(202, { ...inState('IN_QUEUE'), queue_position: 1 });
  if (row === 'unknown-state') return reply(202, inState('PAUSED'));
  if ((job.polls === 2 || isSlow) && !isOver) return reply(202, inState('IN_PROGRESS'));
  const error = { error: 'No runner', error_type: 'runner_scheduling_failure' };
  return reply(200, { ...inState('COMPLETED'), ...(row === 'error-in-status' && error) });
}

function resultOf(job: Job, origin: string): Reply {
  job.results += 1;
  if (job.polls < 3 && !job.isFinished && !job.isCancelled)
    return detailed(400, 'Request is still in progress');
  if (job.row === 'result-down' && job.results === 1 && job.wrong === undefined)
    return detailed(503, 'Service unavailable');
  return endOf(job, origin);
}

/** The result of a request that has ended. */
function endOf({ id, row, wrong, isCancelled, body }: Job, origin: string): Reply {
  if (isCancelled) return detailed(499, 'Request was cancelled', { error_type: 'client_cancelled' });
  if (wrong !== undefined)
    return detailed(422, [{ loc: ['body', wrong], msg: 'refused', type: 'value_error' }]);
  if (row === 'prompt-policy' || row === 'source-policy') {
    const loc = ['body', ...(row === 'prompt-policy' ? ['prompt'] : ['image_urls', 0])];
    return detailed(422, [{ loc, ...flagged }]);
  }
  const [, ofModel] = modelCodes.find(([code]) => code === row) ?? [];
  if (ofModel !== undefined) {
    const url = `https://docs.fal.ai/errors#${row}`;
    return detailed(ofModel, [{ loc: ['body'], msg: 'a text that may quote the prompt', type: row, url }]);
  }
  const [, ofPlatform] = platformCodes.find(([code]) => code === row) ?? [];
  if (ofPlatform !== undefined) {
    const answer = detailed(ofPlatform, 'a text for people', { error_type: row });
    return { ...answer, headers: { 'x-fal-error-type': row } };
  }
  if (row === 'unknown-result') return reply(200, { video: { url: `${origin}/video` } });
  if (row === 'no-images') return reply(200, { images: [], seed: 42 });
  const host = row === 'foreign-picture' ? 'https://v3.fal.media.example.com' : origin;
  const image = {
    url: `${host}/files/b/koala/${id}`,
    content_type: 'image/png',
    file_name: `${id}.png`,
    file_size: 1053044,
    width: 1024,
    height: 1024,
  };
  const result = { images: [image], seed: 42 };
  return {
    status: 200,
    headers: { 'x-fal-billable-units': String(megapixelsOf(body)) },
    body: row === 'nsfw' ? { ...result, has_nsfw_concepts: [true] } : result,
  };
}

/** A megapixel has 1024 x 1024 pixels and is billed when it has begun. */
function megapixelsOf(body: Fields): number {
  const { width, height } = sizeOf(body);
  return Math.ceil((width * height) / 1_048_576);
}

function deliver(job: Job | undefined, paint: Paint): Reply {
  if (!job) return reply(404, 'Not Found');
  const format = formatSchema.parse(job.body['output_format']);
  const { width, height } = sizeOf(job.body);
  return download(job, format, paint(format, width, height));
}

export const fakeFal: Fake = {
  start: startFakeFal,
  rows: falRows,
  key: 'fake-fal-key',
  model: 'flux-2-pro',
  ways: {
    ...withJobs,
    'refused prompt': 'prompt-policy',
    'refused source': 'image_load_error',
    'out of credit': 'payment-required',
    'failed at the vendor': 'internal_server_error',
    'moved elsewhere': 'foreign-picture',
    'no picture': 'no-images',
    'timed out at the vendor': 'generation_timeout',
    'stopped at the vendor': 'client_cancelled',
    'job lost': 'job-missing',
  },
  honours: { ...plainFields, quality: 'honoured' },
};
