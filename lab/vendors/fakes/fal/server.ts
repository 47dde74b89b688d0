/**
 * The fake of fal. A job is queued, then in progress, then completed. As at fal, only the request for the
 * result tells which field of the input was wrong.
 */
import * as z from 'zod';
import { callingBack, type CallingVendor, createFalSigner } from '../calls-back.ts';
import {
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  recordedAnswer,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { fakeModels, modelCodes, platformCodes, sizeOf, wrongField } from './rows.ts';

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

interface Ended extends Reply {
  readonly status: number;
  readonly body: object;
}

const formatSchema = z.enum(['jpeg', 'png', 'webp']);

const unauthorized: Reply = {
  status: 401,
  body: { detail: 'Authentication is required to access this application.' },
};
const atOnce: Readonly<Record<string, Reply>> = {
  unauthorized,
  break: { status: 'break' },
  hang: { status: 'hang' },
  throttled: { status: 429, body: { detail: 'Too many requests' } },
  down: { status: 503, body: { detail: 'Service unavailable' } },
  'server-error': { status: 500, body: { detail: 'Internal server error' } },
  'payment-required': { status: 402, body: { detail: 'Payment required' } },
  locked: {
    status: 403,
    body: {
      detail: 'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.',
    },
  },
  'unknown-shape': { status: 200, body: { request: 'accepted' } },
};

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
      return { status: 200, body: { prices: [{ unit_price: 0.03, unit: 'megapixels', currency: 'USD' }] } };
    const [, app = '', id = '', what = ''] =
      /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/status|\/cancel)?$/.exec(path) ?? [];
    if (method === 'POST' && id === '') return submit(request, jobs, origin);
    const job = jobs.get(id);
    if (job?.app !== app) return { status: 404, body: { detail: 'Request not found' } };
    if (method === 'PUT' && what === '/cancel') return cancel(job);
    if (method !== 'GET' || what === '/cancel')
      return { status: 405, body: { detail: 'Method Not Allowed' } };
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
  if (job.polls > 2 || job.isFinished) return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
  job.isCancelled = job.row !== 'keeps-rendering';
  return { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
}

/** What fal sends when a request has ended. */
function calledBodyOf(id: string, job: Job | undefined, origin: string): Fields {
  const { status, body: payload } = job ? endOf(job, origin) : { status: 200, body: {} };
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
  if (!model) return { status: 404, body: { detail: `Application '${name}' not found` } };
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
  const answer = recorded('submitted', { id, app, origin });
  return {
    status: 200,
    body:
      row === 'foreign-status-url'
        ? { ...answer, status_url: 'https://queue.fal.run.example.com/status' }
        : answer,
  };
}

function statusOf(job: Job, origin: string): Reply {
  const { id, app, row } = job;
  job.polls += 1;
  if (job.polls === 1 && row === 'poll-broke') return { status: 'break' };
  if (job.polls === 1 && row === 'poll-throttled')
    return { status: 429, body: { detail: 'Too many requests' } };
  if (row === 'key-revoked') return unauthorized;
  if (row === 'job-missing') return { status: 404, body: { detail: 'Not found' } };
  const isOver = job.isFinished || (job.isCancelled && row !== 'stops-late');
  const isSlow = row === 'keeps-rendering' || row === 'stops-late';
  if (job.polls === 1 && !isOver)
    return {
      status: 202,
      body: { ...recorded('status', { id, app, origin, status: 'IN_QUEUE' }), queue_position: 1 },
    };
  if (row === 'unknown-state' || ((job.polls === 2 || isSlow) && !isOver))
    return {
      status: 202,
      body: recorded('status', {
        id,
        app,
        origin,
        status: row === 'unknown-state' ? 'PAUSED' : 'IN_PROGRESS',
      }),
    };
  const completed = recorded('status', { id, app, origin, status: 'COMPLETED' });
  return {
    status: 200,
    body:
      row === 'error-in-status'
        ? { ...completed, error: 'No runner', error_type: 'runner_scheduling_failure' }
        : completed,
  };
}

function resultOf(job: Job, origin: string): Reply {
  job.results += 1;
  if (job.polls < 3 && !job.isFinished && !job.isCancelled)
    return { status: 400, body: { detail: 'Request is still in progress' } };
  if (job.row === 'result-down' && job.results === 1 && job.wrong === undefined)
    return { status: 503, body: { detail: 'Service unavailable' } };
  return endOf(job, origin);
}

/** The result of a request that has ended. */
function endOf({ id, row, wrong, isCancelled, body }: Job, origin: string): Ended {
  if (isCancelled)
    return { status: 499, body: { detail: 'Request was cancelled', error_type: 'client_cancelled' } };
  if (wrong !== undefined)
    return { status: 422, body: { detail: [{ loc: ['body', wrong], msg: 'refused', type: 'value_error' }] } };
  if (row === 'prompt-policy') return { status: 422, body: recorded('content_policy_violation') };
  if (row === 'source-policy')
    return {
      status: 422,
      body: {
        detail: [{ loc: ['body', 'image_urls', 0], msg: 'flagged', type: 'content_policy_violation' }],
      },
    };
  const ofModel = modelCodes.find(([code]) => code === row);
  if (ofModel)
    return {
      status: ofModel[1],
      body: {
        detail: [
          {
            loc: ['body'],
            msg: 'a text that may quote the prompt',
            type: row,
            url: `https://docs.fal.ai/errors#${row}`,
          },
        ],
      },
    };
  const ofPlatform = platformCodes.find(([code]) => code === row);
  if (ofPlatform)
    return {
      status: ofPlatform[1],
      headers: { 'x-fal-error-type': row },
      body: { detail: 'a text for people', error_type: row },
    };
  if (row === 'unknown-result') return { status: 200, body: { video: { url: `${origin}/video` } } };
  if (row === 'no-images') return { status: 200, body: { images: [], seed: 42 } };
  const result = recorded('result', {
    id,
    origin: row === 'foreign-picture' ? 'https://v3.fal.media.example.com' : origin,
  });
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
  if (!job) return { status: 404, body: 'Not Found' };
  job.downloads += 1;
  if (job.row === 'download-broke' && job.downloads === 1) return { status: 'break' };
  const format = formatSchema.parse(job.body['output_format']);
  const size = sizeOf(job.body);
  return {
    status: 200,
    headers: { 'content-type': `image/${format}` },
    body:
      job.row === 'page'
        ? '<html>'
        : job.row === 'empty-picture'
          ? ''
          : paint(format, size.width, size.height),
  };
}

function recorded(name: string, values?: Readonly<Record<string, string>>): Fields {
  return recordedAnswer('fal', name, values);
}
