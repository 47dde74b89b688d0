/**
 * The fake of Ideogram's API, version 2, as far as Ideogram 4.5 without source images uses it. A job is pending for
 * two polls. The fake refuses what Ideogram refuses, with the documented status.
 * https://developer.ideogram.ai/api-reference/images/generate/ideogram-4-5 (read 2026-11-22)
 */
import * as z from 'zod';
import { type Fake, noSources, noStop, noTimeLimit, plainFields, withJobs } from '../facts.ts';
import {
  type AnsweredRow,
  type FakeVendor,
  type Fields,
  type Paint,
  pictureOf,
  type Received,
  reply,
  type Reply,
  row,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';

interface IdeogramRow extends AnsweredRow {
  /** The answer to the submission. Absent: the fake accepts the job. */
  readonly submitted?: Reply;
  readonly firstPoll?: Reply;
  /** What the answer to the poll of an ended job has beside its id. Absent: the job is completed. */
  readonly ended?: Fields;
  readonly firstDownload?: Reply;
}

const invalid = reply(400, {
  type: 'about:blank',
  title: 'Bad Request',
  detail: "'1000x1000' is not one of ['1024x1024'] - 'size'",
  status: 400,
});
const unauthorized = reply(401, { message: 'Access denied. Please verify your API Token is valid.' });
const picture = { prompt: 'a cat', resolution: '1024x1024', seed: 7, is_image_safe: true };

const ideogramRows: readonly IdeogramRow[] = [
  row('success', 'completed after two polls', 'rendered'),
  row('unsafe-prompt', '422', 'prompt', {
    submitted: reply(422, { error: 'Prompt or provided image failed the safety checks' }),
  }),
  row('unsafe-picture', 'is_image_safe false and no address', 'prompt', {
    ended: { status: 'completed', data: [{ ...picture, url: null, is_image_safe: false }] },
  }),
  row('policy', 'failed, content_policy_violation', 'prompt', {
    ended: { status: 'failed', failure_reason: 'content_policy_violation' },
  }),
  row('failed', 'failed, for another reason', 'failed', {
    ended: { status: 'failed', failure_reason: 'internal_error' },
  }),
  row('failed-silently', 'failed, without a reason', 'failed', {
    ended: { status: 'failed' },
  }),
  row('no-picture', 'completed without a picture', 'nothing_rendered', {
    ended: { status: 'completed', data: [] },
  }),
  row('empty-picture', 'a picture of no bytes', 'nothing_rendered', {
    firstDownload: reply(200, ''),
  }),
  row('page', 'a page in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    firstDownload: reply(200, '<html>'),
  }),
  row('throttled', '429 inflight_limit', 'unavailable', {
    submitted: reply(429, { error: 'Too many requests in flight.', reject_reason: 'inflight_limit' }),
  }),
  row('inflight', '402 inflight_limit', 'unavailable', {
    submitted: reply(402, { error: 'Too many requests in flight.', reject_reason: 'inflight_limit' }),
  }),
  row('down', '503', 'unavailable', { submitted: reply(503, { error: 'Service unavailable.' }) }),
  row('funds', '402 insufficient_funds', 'credentials', {
    submitted: reply(402, {
      error: 'Add a payment method and credits to use this API key.',
      reject_reason: 'insufficient_funds',
    }),
  }),
  row('unauthorized', '401', 'credentials', { submitted: unauthorized }),
  row('forbidden', '403', 'credentials', {
    submitted: reply(403, { message: 'This account is not authorized for this operation.' }),
  }),
  row('key-revoked', '401 when the job is polled', 'credentials', {
    firstPoll: reply(401, { message: 'Access denied.' }),
  }),
  row('server-error', '500', 'unknown_outcome', {
    submitted: reply(500, { error: 'Internal error.' }),
  }),
  row('break', 'the connection is closed after the submission', 'unknown_outcome', {
    submitted: { status: 'break' },
  }),
  row('invalid', '400 about a field that Darkroom sends', 'unknown_answer', { submitted: invalid }),
  row('model-missing', '404', 'unknown_answer', {
    submitted: reply(404, { error: 'Not found.' }),
  }),
  row('unknown-shape', '200 without the id of a job', 'unknown_answer', {
    submitted: reply(200, { created: 'now', data: [] }),
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    submitted: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  }),
  row('unknown-state', 'an undocumented state', 'unknown_answer', {
    ended: { status: 'paused' },
  }),
  row('job-missing', '404 when the job is polled', 'unknown_answer', {
    firstPoll: reply(404, { error: 'Generation not found.' }),
  }),
  row('foreign-picture', 'a picture on another host', 'unknown_answer', {
    ended: { status: 'completed', data: [{ ...picture, url: 'https://ideogram.ai.example.com/a.png' }] },
  }),
  row('picture-expired', '403 in place of the picture', 'unknown_answer', {
    firstDownload: reply(403, '<html>403 Forbidden</html>'),
  }),
  row('poll-broke', 'the connection of the first poll is closed', 'rendered', {
    firstPoll: { status: 'break' },
  }),
  row('poll-throttled', '429 to the first poll', 'rendered', { firstPoll: { status: 429 } }),
  row('poll-down', '502 to the first poll', 'rendered', { firstPoll: { status: 502 } }),
  row('download-broke', 'the connection of the first download is closed', 'rendered', {
    firstDownload: { status: 'break' },
  }),
];

export const fakeIdeogramKey = 'fake-ideogram-key';
const generatePath = '/v2/image/generate/ideogram-4-5';

/** The presets of 2K. Those of 1K are half as wide and high. */
const presets = [
  [2048, 2048],
  [1440, 2880],
  [2880, 1440],
  [1664, 2496],
  [2496, 1664],
  [1792, 2240],
  [2240, 1792],
  [1440, 2560],
  [2560, 1440],
  [1600, 2560],
  [2560, 1600],
  [1728, 2304],
  [2304, 1728],
] as const;
const sizes = presets.flatMap(([width, height]) => [`${width}x${height}`, `${width / 2}x${height / 2}`]);

/** Source images are files of a form, without which there is no quality "very_low" and no size "source". */
const requestSchema = z.strictObject({
  prompt: z.string().min(1).max(10_000),
  quality: z.enum(['low', 'medium', 'high']).optional(),
  size: z.enum(['auto', ...sizes]).default('auto'),
  magic_prompt: z.enum(['auto', 'on', 'off']).optional(),
  seed: z.int().min(0).max(2_147_483_647).optional(),
  num_images: z.int().min(1).max(8).optional(),
  enable_copyright_detection: z.boolean().optional(),
  async: z.boolean().optional(),
});

interface Job {
  readonly id: string;
  readonly row: IdeogramRow | undefined;
  readonly size: string;
  polls: number;
  downloads: number;
}

export async function startFakeIdeogram(paint: Paint = pictureOf): Promise<FakeVendor & { jobs(): number }> {
  const jobs = new Map<string, Job>();
  const vendor = await startFakeVendor((request, origin) => {
    const { method, headers } = request;
    const { pathname, searchParams } = new URL(request.path, origin);
    const id = pathname.split('/').at(-1) ?? '';
    if (method === 'GET' && pathname.startsWith('/api/images/ephemeral/'))
      return deliver(jobs.get(id.replace('.png', '')), headers['api-key'], paint);
    if (headers['api-key'] !== fakeIdeogramKey) return unauthorized;
    if (method === 'GET' && pathname === '/models') return { status: 200, body: { models: [] } };
    if (method === 'GET' && pathname.startsWith('/v2/generations/')) return poll(jobs.get(id), origin);
    if (pathname !== generatePath) return { status: 404, body: { error: 'Not found.' } };
    if (method !== 'POST') return { status: 405, body: { error: 'Method not allowed.' } };
    return submit(request, searchParams.get('dry_run') === 'true', jobs);
  });
  return { ...vendor, jobs: () => jobs.size };
}

function submit({ headers, json }: Received, isDry: boolean, jobs: Map<string, Job>): Reply {
  const request = requestSchema.safeParse(json);
  if (!(headers['content-type'] ?? '').startsWith('application/json') || !request.success) return invalid;
  if (isDry) return { status: 200, body: { object: 'price_quote', usd_micros: 60_000 } };
  const row = ideogramRows.find((candidate) => candidate.row === rowOf(request.data.prompt));
  if (row?.submitted) return row.submitted;
  const id = `fake-generation-${jobs.size + 1}`;
  jobs.set(id, { id, row, size: request.data.size, polls: 0, downloads: 0 });
  return reply(200, { generation_id: id, seed: 7 });
}

function poll(job: Job | undefined, origin: string): Reply {
  if (!job) return { status: 404, body: { error: 'Generation not found.' } };
  const { id, row, size } = job;
  job.polls += 1;
  if (job.polls === 1 && row?.firstPoll) return row.firstPoll;
  const url = `${origin}/api/images/ephemeral/${id}.png?exp=1795478400&sig=fake`;
  const completed = { status: 'completed', data: [{ ...picture, url, resolution: size }] };
  const standing = job.polls <= 2 ? { status: 'pending' } : (row?.ended ?? completed);
  return reply(200, { generation_id: id, created: '2026-11-22T12:00:00Z', ...standing });
}

/** The address of a picture is signed. A key in this request would be a key in the hands of the storage. */
function deliver(job: Job | undefined, key: string | undefined, paint: Paint): Reply {
  if (!job || key !== undefined) return { status: 403, body: '<html>403 Forbidden</html>' };
  job.downloads += 1;
  if (job.downloads === 1 && job.row?.firstDownload) return job.row.firstDownload;
  const [width = 2048, height = 2048] = job.size.split('x').map(Number);
  return { status: 200, headers: { 'content-type': 'image/png' }, body: paint('png', width, height) };
}

export const fakeIdeogram: Fake = {
  start: startFakeIdeogram,
  rows: ideogramRows,
  key: fakeIdeogramKey,
  model: 'ideogram-4.5',
  ways: {
    ...withJobs,
    'refused prompt': 'unsafe-prompt',
    'refused source': noSources,
    'out of credit': 'funds',
    'failed at the vendor': 'failed',
    'moved elsewhere': 'foreign-picture',
    'no picture': 'no-picture',
    'timed out at the vendor': noTimeLimit,
    'stopped at the vendor': noStop,
    'job lost': 'job-missing',
  },
  honours: { ...plainFields, quality: 'honoured' },
};
