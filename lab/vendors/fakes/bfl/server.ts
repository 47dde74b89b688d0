/** The fake of Black Forest Labs. A job is pending for two polls; a picture is fetched without a key. */
import * as z from 'zod';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { type Fake, noStop, noTimeLimit, plainFields, withJobs } from '../facts.ts';
import {
  download,
  type FakeVendor,
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  reply,
  type Reply,
  rowOf,
  startFakeVendor,
  type VendorRow,
} from '../fake-vendor.ts';

const bflRows: readonly VendorRow[] = [
  { row: 'success', says: 'Ready after two polls', ends: 'completed' },
  { row: 'success-sources', says: 'Ready, made of two source images', ends: 'completed', sources: 2 },
  { row: 'request-moderated', says: 'the prompt is refused when it is polled', ends: 'PromptRejected' },
  { row: 'moderated-at-once', says: 'the prompt is refused when it is submitted', ends: 'PromptRejected' },
  {
    row: 'source-moderated',
    says: 'the details name the first source image as the reason',
    ends: 'SourceImageRejected',
    sources: 1,
  },
  { row: 'content-moderated', says: 'the picture is refused', ends: 'PromptRejected' },
  { row: 'source-unreadable', says: '422 about input_image', ends: 'SourceImageRejected', sources: 1 },
  { row: 'error', says: 'state Error', ends: 'GenerationFailed' },
  { row: 'failed', says: 'state Failed', ends: 'GenerationFailed' },
  { row: 'no-sample', says: 'Ready without a sample', ends: 'NothingRendered' },
  { row: 'empty-picture', says: 'a sample of no bytes', ends: 'NothingRendered' },
  {
    row: 'task-not-found',
    says: 'the vendor does not know the job when it is polled',
    ends: 'InternalFailure',
  },
  { row: 'validation', says: '422 about a field that Darkroom sends', ends: 'InternalFailure' },
  { row: 'unknown-shape', says: '200 without a polling address', ends: 'InternalFailure' },
  { row: 'unknown-state', says: 'an undocumented state', ends: 'InternalFailure' },
  { row: 'foreign-polling-url', says: 'a polling address on another host', ends: 'InternalFailure' },
  { row: 'foreign-sample', says: 'a sample on another host', ends: 'InternalFailure' },
  { row: 'sample-expired', says: 'the sample is gone', ends: 'InternalFailure' },
  { row: 'page', says: 'a page in place of the picture', ends: 'InternalFailure' },
  { row: 'break', says: 'the connection is closed after the submission', ends: 'InternalFailure' },
  { row: 'server-error', says: '500', ends: 'InternalFailure' },
  { row: 'throttled', says: '429', ends: 'ServiceUnavailable' },
  { row: 'down', says: '503', ends: 'ServiceUnavailable' },
  { row: 'unauthorized', says: '401', ends: 'ServiceUnavailable' },
  { row: 'payment-required', says: '402', ends: 'ServiceUnavailable' },
  { row: 'forbidden', says: '403', ends: 'ServiceUnavailable' },
  { row: 'key-revoked', says: '403 when the job is polled', ends: 'ServiceUnavailable' },
  { row: 'poll-broke', says: 'the connection of the first poll is closed', ends: 'completed' },
  { row: 'poll-throttled', says: '429 to the first poll', ends: 'completed' },
  { row: 'poll-down', says: '502 to the first poll', ends: 'completed' },
  { row: 'download-broke', says: 'the connection of the first download is closed', ends: 'completed' },
];

const key = 'fake-bfl-key';
/**
 * How many source images each model takes. github.com/black-forest-labs/skills, skills/bfl-api (read 2026-11-22).
 */
const models: Readonly<Record<string, number>> = {
  'flux-2-pro': 8,
  'flux-2-max': 8,
  'flux-2-flex': 8,
  'flux-2-klein-4b': 4,
  'flux-2-klein-9b': 4,
};
/** What the first megapixel of a picture costs, and each further one. Source images cost more, which is left out. */
const credits: Readonly<Record<string, readonly [first: number, further: number]>> = {
  'flux-2-pro': [3, 1.5],
  'flux-2-max': [7, 3],
  'flux-2-klein-4b': [1.4, 0.1],
};
const mostPixels = 2048 * 2048;
const fields = ['prompt', 'width', 'height', 'seed', 'safety_tolerance', 'output_format'];

interface Job {
  readonly id: string;
  readonly row: string;
  readonly picture: z.infer<typeof pictureSchema>;
  polls: number;
  downloads: number;
}

const pictureSchema = z.object({
  width: z.number(),
  height: z.number(),
  output_format: z.enum(['jpeg', 'png', 'webp']),
});

const atOnce: Readonly<Record<string, Reply>> = {
  break: { status: 'break' },
  hang: { status: 'hang' },
  throttled: reply(429, { detail: 'Too many active tasks' }),
  down: reply(503, { detail: 'Service Unavailable' }),
  'server-error': reply(500, { detail: 'Internal Server Error' }),
  unauthorized: reply(401, { detail: 'Not authenticated' }),
  'payment-required': reply(402, { detail: 'Insufficient credits' }),
  forbidden: reply(403, { detail: 'Not authenticated - Invalid Authentication' }),
  validation: reply(422, {
    detail: [
      { loc: ['body', 'width'], msg: 'Input should be a multiple of 16', type: 'multiple_of', input: 1000 },
    ],
  }),
  'source-unreadable': reply(422, {
    detail: [
      { loc: ['body', 'input_image'], msg: 'Value error, cannot identify image file', type: 'value_error' },
    ],
  }),
  'moderated-at-once': reply(200, standing('', moderated('Derivative Works Filter'))),
  'unknown-shape': reply(200, { task: 'accepted' }),
};

const atFirstPoll: Readonly<Record<string, Reply>> = {
  'poll-broke': { status: 'break' },
  'poll-throttled': reply(429, { detail: 'Too Many Requests' }),
  'poll-down': reply(502, '<html>Bad Gateway</html>'),
};

/** The answers about jobs that have ended without a picture. */
const endings: Readonly<Record<string, Fields>> = {
  'request-moderated': moderated('Derivative Works Filter'),
  'source-moderated': moderated('Image 1'),
  'content-moderated': { ...moderated('NSFW'), status: 'Content Moderated' },
  error: { status: 'Error', details: { error: 'a text that may quote the prompt' } },
  failed: { status: 'Failed' },
  'unknown-state': { status: 'Paused' },
  'no-sample': { status: 'Ready' },
};

function moderated(reason: string): Fields {
  return { status: 'Request Moderated', details: { 'Moderation Reasons': [reason] } };
}

/** The answer to a poll. */
function standing(id: string, state: Fields): Fields {
  return { id, result: null, progress: null, details: null, preview: null, ...state };
}

export async function startFakeBfl(paint: Paint = pictureOf): Promise<FakeVendor & { jobs(): number }> {
  const jobs = new Map<string, Job>();
  const vendor = await startFakeVendor((request, origin) => {
    const { pathname, searchParams } = new URL(request.path, origin);
    const [, , id = ''] = pathname.split('/');
    if (request.method === 'GET' && pathname.startsWith('/results/')) return deliver(jobs.get(id), paint);
    if (request.headers['x-key'] !== key) return reply(403, { detail: 'Not authenticated' });
    if (request.method === 'GET' && pathname === '/v1/credits') return reply(200, { credits: 1200 });
    if (request.method === 'GET' && pathname === '/v1/get_result')
      return poll(jobs.get(searchParams.get('id') ?? ''), origin);
    if (request.method === 'POST' && Object.hasOwn(models, id)) return submit(request, id, jobs, origin);
    return reply(404, { detail: 'Not Found' });
  });
  return { ...vendor, jobs: () => jobs.size };
}

function submit(request: Received, model: string, jobs: Map<string, Job>, origin: string): Reply {
  const body = fieldsOf(request.json);
  const wrong =
    request.headers['content-type'] === 'application/json' ? wrongField(body, models[model] ?? 0) : 'body';
  if (wrong !== undefined)
    return reply(422, { detail: [{ loc: ['body', wrong], msg: 'refused', type: 'value_error' }] });
  const row = rowOf(body['prompt']) ?? 'success';
  if (Object.hasOwn(atOnce, row)) return atOnce[row] ?? { status: 500 };
  const id = `00000000-0000-4000-8000-${String(jobs.size + 1).padStart(12, '0')}`;
  const picture = pictureSchema.parse(body);
  jobs.set(id, { id, row, picture, polls: 0, downloads: 0 });
  if (row === 'foreign-polling-url')
    return reply(200, { id, polling_url: `https://api.bfl.ai.example.com/v1/get_result?id=${id}` });
  const [first, further] = credits[model] ?? [];
  const cost = (first ?? 0) + (further ?? 0) * (Math.ceil((picture.width * picture.height) / 1_048_576) - 1);
  const polling_url = `${origin}/v1/get_result?id=${id}`;
  const accepted = { id, polling_url, cost: 3, input_mp: 0, output_mp: 1 };
  return reply(200, { ...accepted, ...(first !== undefined && { cost }) });
}

/** The name of the first field that the vendor would refuse. */
function wrongField(body: Fields, mostImages: number): string | undefined {
  const images = Array.from({ length: mostImages }, (_, index) =>
    index === 0 ? 'input_image' : `input_image_${index + 1}`,
  );
  const isSide = (side: unknown): boolean =>
    Number.isInteger(side) && Number(side) >= 64 && Number(side) % 16 === 0;
  const unknown = Object.keys(body).find((name) => !fields.includes(name) && !images.includes(name));
  if (unknown !== undefined) return unknown;
  const { prompt, width, height, output_format: format } = body;
  if (typeof prompt !== 'string') return 'prompt';
  if (!isSide(width) || Number(width) * Number(height) > mostPixels) return 'width';
  if (!isSide(height)) return 'height';
  if (body['seed'] !== undefined && !Number.isInteger(body['seed'])) return 'seed';
  if (!pictureSchema.shape.output_format.safeParse(format).success) return 'output_format';
  if (![0, 1, 2, 3, 4, 5].includes(Number(body['safety_tolerance']))) return 'safety_tolerance';
  return images.find((name) => body[name] !== undefined && !isPicture(body[name]));
}

function isPicture(data: unknown): boolean {
  return typeof data === 'string' && readImageHeader(Buffer.from(data, 'base64')) !== undefined;
}

function poll(job: Job | undefined, origin: string): Reply {
  if (!job) return reply(404, standing('', { status: 'Task not found' }));
  const { id, row } = job;
  job.polls += 1;
  if (job.polls === 1 && Object.hasOwn(atFirstPoll, row)) return atFirstPoll[row] ?? { status: 500 };
  if (row === 'key-revoked') return reply(403, { detail: 'Not authenticated' });
  if (job.polls <= 2) return reply(200, standing(id, { status: 'Pending', progress: 0.4 }));
  if (row === 'task-not-found') return reply(404, standing(id, { status: 'Task not found' }));
  if (Object.hasOwn(endings, row)) return reply(200, standing(id, endings[row] ?? {}));
  const host = row === 'foreign-sample' ? 'https://bfl.ai.example.com' : origin;
  const sample = `${host}/results/${id}/sample?se=2026-11-21T12%3A10%3A00Z&sp=r&sv=2024-11-04&sr=b&sig=fake`;
  const times = { start_time: 1763726400.1, end_time: 1763726412.7, duration: 12.6 };
  const result = { sample, prompt: 'a cat', seed: 42, ...times };
  return reply(200, standing(id, { status: 'Ready', result }));
}

function deliver(job: Job | undefined, paint: Paint): Reply {
  if (!job || job.row === 'sample-expired')
    return reply(403, '<Error><Code>AuthenticationFailed</Code></Error>');
  const { output_format: format, width, height } = job.picture;
  return download(job, format, paint(format, width, height));
}

export const fakeBfl: Fake = {
  start: startFakeBfl,
  rows: bflRows,
  key,
  model: 'flux-2-pro',
  ways: {
    ...withJobs,
    'refused prompt': 'request-moderated',
    'refused source': 'source-moderated',
    'out of credit': 'payment-required',
    'failed at the vendor': 'failed',
    'moved elsewhere': 'foreign-sample',
    'no picture': 'no-sample',
    'timed out at the vendor': noTimeLimit,
    'stopped at the vendor': noStop,
    'job lost': 'task-not-found',
  },
  honours: { ...plainFields, negative_prompt: { refused: 'FLUX.2 has no negative prompts.' } },
};
