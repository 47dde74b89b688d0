/**
 * The fake of a ComfyUI server, with or without a proxy that asks for a key. A job waits at the first poll, runs at
 * the second, and has ended at the third. The fake refuses what ComfyUI refuses (validation.ts).
 * https://docs.comfy.org/development/comfyui-server/comms_routes (read 2026-11-23)
 */
import type { OutputFormat } from '../../../../service/contract/request-fields.ts';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { type Fake, ownQuality, plainFields, withJobs } from '../facts.ts';
import {
  type FakeVendor,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { formOf } from '../openai/server.ts';
import { type ComfyuiRow, comfyuiRows, refusalOfWorkflow } from './rows.ts';

export const fakeComfyuiKey = 'fake-comfyui-key';

interface Job {
  readonly id: string;
  readonly row: ComfyuiRow | undefined;
  readonly width: number;
  readonly height: number;
  /** What the picture is then. */
  readonly kept?: Buffer;
  looks: number;
  downloads: number;
  isDeleted: boolean;
  isInterrupted: boolean;
}

export interface FakeComfyui extends FakeVendor {
  jobs(): number;
  /** Answers the next such call with this. The row cannot do so: neither call names its job. */
  answerNext(call: 'POST /upload' | 'GET /queue', reply: Reply): void;
}

/** @param key what the proxy asks for. Absent: there is no proxy. */
export async function startFakeComfyui(paint: Paint = pictureOf, key?: string): Promise<FakeComfyui> {
  const jobs = new Map<string, Job>();
  const files = new Map<string, Buffer>();
  const next = new Map<string, Reply>();
  const vendor = await startFakeVendor((request, origin) => {
    const { method, headers, json } = request;
    const { pathname, searchParams } = new URL(request.path, origin);
    if (key !== undefined && headers['authorization'] !== `Bearer ${key}`)
      return { status: 401, body: 'Unauthorized' };
    const call = `${method} ${pathname.split('/').slice(0, 2).join('/')}`;
    const reply = next.get(call);
    if (reply && next.delete(call)) return reply;
    switch (call) {
      case 'GET /prompt':
        return { status: 200, body: { exec_info: { queue_remaining: 0 } } };
      case 'POST /prompt':
        return submit(json, jobs, files);
      case 'POST /upload':
        return upload(request, files);
      case 'GET /history':
        return history(jobs.get(pathname.split('/')[2] ?? ''));
      case 'GET /queue':
        return queue([...jobs.values()]);
      case 'POST /queue':
        return remove(json, jobs);
      case 'POST /interrupt':
        return interrupt(json, jobs);
      case 'GET /view':
        return view(searchParams, jobs, paint);
      default:
        return { status: 404, body: '404: Not Found' };
    }
  });
  return { ...vendor, jobs: () => jobs.size, answerNext: (call, reply) => void next.set(call, reply) };
}

function submit(json: unknown, jobs: Map<string, Job>, files: ReadonlyMap<string, Buffer>): Reply {
  const nodes = Object.values(fieldsOf(fieldsOf(json)['prompt'])).map((node) =>
    fieldsOf(fieldsOf(node)['inputs']),
  );
  const wanted = nodes.map(({ text }) => rowOf(text)).find((row) => row !== undefined);
  const row = comfyuiRows.find((candidate) => candidate.row === wanted);
  if (row?.submitted) return row.submitted;
  const refusal = refusalOfWorkflow(json, files);
  if (refusal) return refusal;
  const { width, height } = nodes.find((inputs) => typeof inputs['width'] === 'number') ?? {};
  const id = `00000000-0000-4000-8000-${String(jobs.size + 1).padStart(12, '0')}`;
  const state = { looks: 0, downloads: 0, isDeleted: false, isInterrupted: false };
  // The first source image keeps everything that a mask may protect.
  const isMasked = nodes.some((inputs) => 'resize_source' in inputs) && row?.row !== 'mask-ignored';
  const kept = isMasked
    ? files.get(String(nodes.find(({ image }) => typeof image === 'string')?.['image']))
    : undefined;
  jobs.set(id, { id, row, width: Number(width), height: Number(height), ...(kept && { kept }), ...state });
  return { status: 200, body: { prompt_id: id, number: jobs.size, node_errors: {} } };
}

function upload(request: Received, files: Map<string, Buffer>): Reply {
  const [file] = formOf(request).files;
  if (file?.field !== 'image' || readImageHeader(file.bytes)?.contentType !== file.type)
    return { status: 400 };
  const name = /filename="([^"]+)"/.exec(request.body.toString('latin1'))?.[1] ?? '';
  files.set(`inputs/${name}`, file.bytes);
  return { status: 200, body: { name, subfolder: 'inputs', type: 'input' } };
}

function history(job: Job | undefined): Reply {
  if (!job) return { status: 200, body: {} };
  const { id, row } = job;
  job.looks += 1;
  if (job.looks === 1 && row?.firstPoll) return row.firstPoll;
  if (job.looks > 1 && row?.laterPolls) return withId(row.laterPolls, id);
  if (job.isInterrupted || (!job.isDeleted && row?.ended === 'interrupted' && hasEnded(job)))
    return entryOf(job, {
      status: {
        status_str: 'error',
        completed: false,
        messages: [['execution_interrupted', { prompt_id: id }]],
      },
    });
  if (job.isDeleted || row?.ended === 'lost' || !hasEnded(job)) return { status: 200, body: {} };
  if (row?.ended === 'error')
    return entryOf(job, { status: { status_str: 'error', completed: false, messages: [] } });
  if (typeof row?.ended === 'object' && 'exception' in row.ended) {
    const { exception } = row.ended;
    const error = {
      node_id: '3',
      node_type: 'KSampler',
      exception_type: exception,
      exception_message: 'a text',
    };
    return entryOf(job, {
      status: {
        status_str: 'error',
        completed: false,
        messages: [
          ['execution_start', {}],
          ['execution_error', error],
        ],
      },
    });
  }
  const images = [{ filename: 'darkroom_00001_.png', subfolder: '', type: 'output' }];
  const outputs =
    typeof row?.ended === 'object' && 'outputs' in row.ended ? row.ended.outputs : { '9': { images } };
  return entryOf(job, {
    outputs: withJob(outputs, id),
    status: { status_str: 'success', completed: true, messages: [] },
  });
}

function hasEnded({ looks }: Job): boolean {
  return looks > 2;
}

function entryOf({ id }: Job, entry: object): Reply {
  return { status: 200, body: { [id]: { prompt: [1, id, {}, {}, ['9']], outputs: {}, meta: {}, ...entry } } };
}

/** Pictures are in a folder with the job's id, so that a download names its job. */
function withJob(outputs: object, id: string): unknown {
  return JSON.parse(JSON.stringify(outputs).replaceAll('"subfolder":""', `"subfolder":"${id}"`));
}

function withId(reply: Reply, id: string): Reply {
  return { ...reply, body: fieldsOf(JSON.parse(JSON.stringify(reply.body).replaceAll('<id>', id))) };
}

function queue(jobs: readonly Job[]): Reply {
  const open = jobs.filter(
    (job) => !hasEnded(job) && !job.isDeleted && !job.isInterrupted && job.row?.ended !== 'lost',
  );
  const entry = ({ id }: Job): readonly unknown[] => [1, id, {}, {}, ['9']];
  return {
    status: 200,
    body: {
      queue_running: open.filter(({ looks }) => looks > 1).map(entry),
      queue_pending: open.filter(({ looks }) => looks <= 1).map(entry),
    },
  };
}

/** Only a job that waits is deleted. The answer is the same. */
function remove(json: unknown, jobs: ReadonlyMap<string, Job>): Reply {
  const { delete: ids } = fieldsOf(json);
  for (const id of Array.isArray(ids) ? ids : []) {
    const job = jobs.get(String(id));
    if (job && job.looks <= 1) job.isDeleted = true;
  }
  return { status: 200 };
}

/** An interrupt of a job that does not run is ignored. The answer is the same. */
function interrupt(json: unknown, jobs: ReadonlyMap<string, Job>): Reply {
  const job = jobs.get(String(fieldsOf(json)['prompt_id']));
  if (job && job.looks > 1 && !hasEnded(job)) job.isInterrupted = true;
  return { status: 200 };
}

function view(query: URLSearchParams, jobs: ReadonlyMap<string, Job>, paint: Paint): Reply {
  const job = jobs.get(query.get('subfolder') ?? '');
  if (!job || query.get('filename') !== 'darkroom_00001_.png') return { status: 404 };
  job.downloads += 1;
  if (job.downloads === 1 && job.row?.firstDownload) return job.row.firstDownload;
  const preview = query.get('preview')?.split(';')[0];
  const format: OutputFormat = preview === 'jpeg' || preview === 'webp' ? preview : 'png';
  return {
    status: 200,
    headers: { 'content-type': `image/${format}` },
    body: job.kept ?? paint(format, job.width, job.height),
  };
}

/** The fake behind a proxy, as a server of an operator. */
export const fakeComfyui: Fake = {
  start: async (paint) => startFakeComfyui(paint, fakeComfyuiKey),
  rows: comfyuiRows,
  key: fakeComfyuiKey,
  model: 'own-comfyui',
  ways: {
    ...withJobs,
    'refused prompt': { cannot: 'ComfyUI has no moderation.' },
    'refused source': 'bad-source',
    throttled: 'full-queue',
    'out of credit': 'payment',
    'failed at the vendor': 'execution-error',
    'moved elsewhere': 'redirect',
    'no picture': 'no-picture',
    'timed out at the vendor': {
      cannot: 'ComfyUI has no time limit. Our deadline takes the job out of its queue.',
    },
    'stopped at the vendor': 'interrupted',
    'job lost': 'lost',
  },
  honours: { ...plainFields, negative_prompt: 'honoured', quality: ownQuality, mask_url: 'honoured' },
};
