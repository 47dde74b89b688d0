/**
 * The fake of Ideogram's API, version 2, as far as Ideogram 4.5 without source images uses it. A job is pending for
 * two polls. The fake refuses what Ideogram refuses, with the documented status.
 * https://developer.ideogram.ai/api-reference/images/generate/ideogram-4-5 (read 2026-11-22)
 */
import * as z from 'zod';
import { rowOf, startFakeVendor, type FakeVendor, type Received, type Reply } from '../fake-vendor.ts';
import { pictureOf, type Paint } from '../pictures.ts';
import { recordedAnswer } from '../recorded-answer.ts';
import { ideogramRows, type IdeogramRow } from './rows.ts';

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
    if (headers['api-key'] !== fakeIdeogramKey)
      return { status: 401, body: recordedAnswer('ideogram', 'unauthorized') };
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
  if (!(headers['content-type'] ?? '').startsWith('application/json') || !request.success)
    return { status: 400, body: recordedAnswer('ideogram', 'invalid') };
  if (isDry) return { status: 200, body: { object: 'price_quote', usd_micros: 60_000 } };
  const row = ideogramRows.find((candidate) => candidate.row === rowOf(request.data.prompt));
  if (typeof row?.submitted === 'number')
    return { status: row.submitted, body: recordedAnswer('ideogram', row.row) };
  if (row?.submitted) return row.submitted;
  const id = `fake-generation-${jobs.size + 1}`;
  jobs.set(id, { id, row, size: request.data.size, polls: 0, downloads: 0 });
  return { status: 200, body: recordedAnswer('ideogram', 'submitted', { id }) };
}

function poll(job: Job | undefined, origin: string): Reply {
  if (!job) return { status: 404, body: { error: 'Generation not found.' } };
  const { id, row, size } = job;
  job.polls += 1;
  if (job.polls === 1 && row?.firstPoll) return row.firstPoll;
  if (job.polls <= 2) return { status: 200, body: recordedAnswer('ideogram', 'pending', { id }) };
  if (row?.ended === 'recorded') return { status: 200, body: recordedAnswer('ideogram', row.row, { id }) };
  return row?.ended ?? { status: 200, body: recordedAnswer('ideogram', 'completed', { id, origin, size }) };
}

/** The address of a picture is signed. A key in this request would be a key in the hands of the storage. */
function deliver(job: Job | undefined, key: string | undefined, paint: Paint): Reply {
  if (!job || key !== undefined) return { status: 403, body: '<html>403 Forbidden</html>' };
  job.downloads += 1;
  if (job.downloads === 1 && job.row?.firstDownload) return job.row.firstDownload;
  const [width = 2048, height = 2048] = job.size.split('x').map(Number);
  return { status: 200, headers: { 'content-type': 'image/png' }, body: paint('png', width, height) };
}
