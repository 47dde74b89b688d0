/** fal on loopback: queued, in progress, completed; what is wrong with an input is said by the result. */
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

/** Codes of a model, with the status that they come under and what becomes of the creation. */
const modelCodes: readonly (readonly [
  code: string,
  status: number,
  ends: VendorRow['ends'],
  sources?: number,
])[] = [
  ['image_load_error', 422, 'SourceImageRejected', 1],
  ['image_too_small', 422, 'SourceImageRejected', 1],
  ['image_too_large', 422, 'SourceImageRejected', 1],
  ['file_too_large', 422, 'SourceImageRejected', 1],
  ['file_download_error', 422, 'SourceImageRejected', 1],
  ['unsupported_image_format', 422, 'SourceImageRejected', 1],
  ['face_detection_error', 422, 'SourceImageRejected', 1],
  ['no_media_generated', 422, 'NothingRendered'],
  ['generation_timeout', 504, 'GenerationTimedOut'],
  ['downstream_service_unavailable', 500, 'ServiceUnavailable'],
  ['downstream_service_error', 400, 'GenerationFailed'],
  ['internal_server_error', 500, 'GenerationFailed'],
];

/** Codes of the platform. */
const platformCodes: readonly (readonly [code: string, status: number, ends: VendorRow['ends']])[] = [
  ['request_timeout', 504, 'GenerationTimedOut'],
  ['startup_timeout', 504, 'GenerationTimedOut'],
  ['runner_scheduling_failure', 503, 'ServiceUnavailable'],
  ['runner_disconnected', 503, 'GenerationFailed'],
];

export const falRows: readonly VendorRow[] = [
  { row: 'success', says: 'queued, in progress, completed', ends: 'completed' },
  { row: 'success-sources', says: 'completed, made of two source images', ends: 'completed', sources: 2 },
  { row: 'prompt-policy', says: 'content_policy_violation in the prompt', ends: 'PromptRejected' },
  {
    row: 'source-policy',
    says: 'content_policy_violation in a source image',
    ends: 'SourceImageRejected',
    sources: 1,
  },
  { row: 'nsfw', says: 'has_nsfw_concepts, and a black picture', ends: 'PromptRejected' },
  ...modelCodes.map(([row, status, ends, sources]) => ({
    row,
    says: `${status} ${row}`,
    ends,
    ...(sources !== undefined && { sources }),
  })),
  ...platformCodes.map(([row, status, ends]) => ({ row, says: `${status} ${row}`, ends })),
  { row: 'error-in-status', says: 'a status that carries its error', ends: 'ServiceUnavailable' },
  { row: 'no-images', says: 'a result without images', ends: 'NothingRendered' },
  { row: 'empty-picture', says: 'a picture of no bytes', ends: 'NothingRendered' },
  { row: 'unknown-shape', says: '200 without addresses', ends: 'InternalFailure' },
  { row: 'unknown-state', says: 'a state that nobody documents', ends: 'InternalFailure' },
  { row: 'unknown-result', says: 'a result of an unknown shape', ends: 'InternalFailure' },
  { row: 'foreign-status-url', says: 'a status address at another host', ends: 'InternalFailure' },
  { row: 'foreign-picture', says: 'a picture at another host', ends: 'InternalFailure' },
  { row: 'break', says: 'the connection is cut behind the submission', ends: 'InternalFailure' },
  { row: 'server-error', says: '500 without a code', ends: 'InternalFailure' },
  { row: 'throttled', says: '429', ends: 'ServiceUnavailable' },
  { row: 'down', says: '503', ends: 'ServiceUnavailable' },
  { row: 'unauthorized', says: '401', ends: 'ServiceUnavailable' },
  { row: 'payment-required', says: '402', ends: 'ServiceUnavailable' },
  { row: 'locked', says: '403: the account has no balance', ends: 'ServiceUnavailable' },
  { row: 'key-revoked', says: '401 when it is polled', ends: 'ServiceUnavailable' },
  { row: 'poll-broke', says: 'the first poll is cut', ends: 'completed' },
  { row: 'poll-throttled', says: '429 to the first poll', ends: 'completed' },
  { row: 'result-down', says: '503 without a code to the first question for the result', ends: 'completed' },
  { row: 'download-broke', says: 'the first download is cut', ends: 'completed' },
];

interface Job {
  readonly id: string;
  readonly app: string;
  readonly row: string;
  readonly body: Body;
  /** The field that the model does not accept. */
  readonly wrong: string | undefined;
  polls: number;
  results: number;
  downloads: number;
}

interface Body {
  readonly prompt: string;
  readonly image_size: { readonly width: number; readonly height: number };
  readonly output_format: OutputFormat;
  readonly image_urls?: readonly string[];
}

interface Model {
  readonly formats: readonly string[];
  readonly mostImages: number;
  readonly ownFields: readonly string[];
}

const large: Model = { formats: ['jpeg', 'png'], mostImages: 8, ownFields: ['safety_tolerance'] };
const klein: Model = {
  formats: ['jpeg', 'png', 'webp'],
  mostImages: 4,
  ownFields: ['num_images', 'num_inference_steps'],
};
const models: Readonly<Record<string, Model>> = {
  'fal-ai/flux-2-pro': large,
  'fal-ai/flux-2-max': large,
  'fal-ai/flux-2/klein/4b': klein,
};
const fields = ['prompt', 'image_size', 'seed', 'output_format', 'enable_safety_checker', 'sync_mode'];

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

export async function startFakeFal(): Promise<FakeVendor & { jobs(): number }> {
  const jobs = new Map<string, Job>();
  const vendor = await startFakeVendor((request, origin) => {
    const { method, path } = request;
    const picture = /^\/files\/b\/koala\/(.+)$/.exec(path)?.[1];
    if (method === 'GET' && picture !== undefined) return deliver(jobs.get(picture));
    if (request.headers['authorization'] !== 'Key fake-fal-key') return unauthorized;
    if (method === 'GET' && path.startsWith('/v1/models/pricing?endpoint_id='))
      return { status: 200, body: { prices: [{ unit_price: 0.03, unit: 'megapixels', currency: 'USD' }] } };
    const [, app = '', id = '', what = ''] =
      /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/status|\/cancel)?$/.exec(path) ?? [];
    if (method === 'POST' && id === '') return submit(request, jobs, origin);
    const job = jobs.get(id);
    if (job?.app !== app) return { status: 404, body: { detail: 'Request not found' } };
    if (method === 'PUT' && what === '/cancel')
      return job.polls > 2
        ? { status: 400, body: { status: 'ALREADY_COMPLETED' } }
        : { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
    if (method !== 'GET' || what === '/cancel')
      return { status: 405, body: { detail: 'Method Not Allowed' } };
    return what === '/status' ? statusOf(job, origin) : resultOf(job, origin);
  });
  return { ...vendor, jobs: () => jobs.size };
}

function submit(request: Received, jobs: Map<string, Job>, origin: string): Reply {
  const isEdit = request.path.endsWith('/edit');
  const name = request.path.slice(1, isEdit ? -'/edit'.length : undefined);
  const model = Object.hasOwn(models, name) ? models[name] : undefined;
  if (!model) return { status: 404, body: { detail: `Application '${name}' not found` } };
  const body = (request.json ?? {}) as Body & Record<string, unknown>;
  const row = rowOf(body.prompt) ?? 'success';
  if (Object.hasOwn(atOnce, row)) return atOnce[row] ?? { status: 500 };
  const id = `019ef3ca-bf2e-71b2-b3b6-${String(jobs.size + 1).padStart(12, '0')}`;
  const app = name.split('/').slice(0, 2).join('/');
  const wrong =
    request.headers['content-type'] === 'application/json' ? wrongField(body, model, isEdit) : 'body';
  jobs.set(id, { id, app, row, body, wrong, polls: 0, results: 0, downloads: 0 });
  const answer = recorded('submitted', { id, app, origin });
  return {
    status: 200,
    body:
      row === 'foreign-status-url'
        ? { ...answer, status_url: 'https://queue.fal.run.example.com/status' }
        : answer,
  };
}

/** The first field that the model would refuse. */
function wrongField(body: Body & Record<string, unknown>, model: Model, isEdit: boolean): string | undefined {
  const known = [...fields, ...model.ownFields, ...(isEdit ? ['image_urls'] : [])];
  const isSide = (side: unknown): boolean =>
    Number.isInteger(side) && Number(side) >= 64 && Number(side) <= 2048 && Number(side) % 16 === 0;
  const isPicture = (url: string): boolean => {
    const data = /^data:(image\/\w+);base64,(.+)$/.exec(url);
    return data !== null && readImageHeader(Buffer.from(data[2] ?? '', 'base64'))?.contentType === data[1];
  };
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) return unknown;
  if (typeof body.prompt !== 'string') return 'prompt';
  if (!isSide(body.image_size.width) || !isSide(body.image_size.height)) return 'image_size';
  if (body['seed'] !== undefined && !Number.isInteger(body['seed'])) return 'seed';
  if (!model.formats.includes(body.output_format)) return 'output_format';
  if (
    body['safety_tolerance'] !== undefined &&
    !['1', '2', '3', '4', '5'].includes(body['safety_tolerance'] as string)
  )
    return 'safety_tolerance';
  const images = body.image_urls ?? [];
  return isEdit && (images.length === 0 || images.length > model.mostImages || !images.every(isPicture))
    ? 'image_urls'
    : undefined;
}

function statusOf(job: Job, origin: string): Reply {
  const { id, app, row } = job;
  job.polls += 1;
  if (job.polls === 1 && row === 'poll-broke') return { status: 'break' };
  if (job.polls === 1 && row === 'poll-throttled')
    return { status: 429, body: { detail: 'Too many requests' } };
  if (row === 'key-revoked') return unauthorized;
  if (job.polls === 1)
    return {
      status: 202,
      body: { ...recorded('status', { id, app, origin, status: 'IN_QUEUE' }), queue_position: 1 },
    };
  if (job.polls === 2)
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
  const { id, row, wrong } = job;
  job.results += 1;
  if (job.polls < 3) return { status: 400, body: { detail: 'Request is still in progress' } };
  if (wrong !== undefined)
    return { status: 422, body: { detail: [{ loc: ['body', wrong], msg: 'refused', type: 'value_error' }] } };
  if (row === 'result-down' && job.results === 1)
    return { status: 503, body: { detail: 'Service unavailable' } };
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
  return { status: 200, body: row === 'nsfw' ? { ...result, has_nsfw_concepts: [true] } : result };
}

function deliver(job: Job | undefined): Reply {
  if (!job) return { status: 404, body: 'Not Found' };
  job.downloads += 1;
  if (job.row === 'download-broke' && job.downloads === 1) return { status: 'break' };
  const { output_format: format, image_size: size } = job.body;
  return {
    status: 200,
    headers: { 'content-type': `image/${format}` },
    body: job.row === 'empty-picture' ? '' : pictureOf(format, size.width, size.height),
  };
}

/** An answer as documented, from tools/vendors/answers/fal. */
function recorded(name: string, { id = '', app = '', origin = '', status = '' } = {}): object {
  const text = readFileSync(new URL(`./answers/fal/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(
    text
      .replaceAll('<id>', id)
      .replaceAll('<app>', app)
      .replaceAll('<origin>', origin)
      .replaceAll('<status>', status),
  ) as object;
}
