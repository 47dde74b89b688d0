/**
 * ComfyUI on a server of the operator. The adapter uploads the source images, puts a workflow into the server's
 * queue, polls the history until the workflow has ended, and fetches the picture.
 *
 * Read on 2026-11-23: https://docs.comfy.org/development/comfyui-server/comms_routes (routes), server.py and
 * execution.py of github.com/Comfy-Org/ComfyUI (bodies and statuses), its pull request 9607 (an interrupt of one
 * prompt).
 *
 * ComfyUI has no moderation, no limit of its queue and no key. A proxy in front of it may have all three. Progress is
 * told over a WebSocket only. Not verified: the words by which nodes of other authors fail.
 */
import { randomBytes } from 'node:crypto';
import {
  filledWorkflow,
  workflowFor,
  type Workflow,
  type Workflows,
} from '../../../core/comfyui-workflow.ts';
import {
  refusedBy,
  type ImageProvider,
  type ProviderAnswer,
  type RenderJob,
} from '../../../core/provider.ts';
import { checkByCall } from '../credential-call.ts';
import { openaiSizes } from '../openai/sizes.ts';
import { answering, createVendorHttp, unknownAnswer, type Send } from '../vendor-http.ts';
import { neededFor, pendingJob, polling, refusedAtOnce, type Waits } from '../vendor-jobs.ts';
import { fieldsOf } from '../vendor-json.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import type { Connection } from './connection.ts';
import { isIn, queueOf } from './queue.ts';
import { codeOfRefusal } from './refusals.ts';
import { lookAtJob } from './result.ts';
import { uploadedNames } from './sources.ts';

export interface ComfyuiServer extends VendorSettings {
  readonly baseUrl: string;
  readonly workflows: Workflows;
  /** 'none': the server asks for no key. */
  readonly credential: 'key' | 'none';
  /** Sends the requests. Absent: fetch() does. */
  readonly send?: Send;
  /** A seed for a job that names none. ComfyUI renders nothing for a workflow that is the same as the last one. */
  readonly randomSeed?: () => number;
}

/** A small picture takes some seconds on an own GPU. A job may wait for the jobs before it. */
const waits: Waits = [1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000];

/** The job's id becomes a part of a path. ComfyUI uses UUIDs. */
const idForm = /^[\w-]{1,128}$/;

export function createComfyui(server: ComfyuiServer): ImageProvider {
  const {
    name,
    credentials,
    workflows,
    baseUrl,
    send,
    randomSeed = () => randomBytes(4).readUInt32BE(),
  } = server;
  const http = createVendorHttp({ baseUrl, hosts: [], ...(send && { send }) });
  /** Undefined: the operator has set no key. */
  const connect = async (signal: AbortSignal): Promise<Connection | undefined> => {
    const key = server.credential === 'none' ? '' : await credentials.read(name);
    if (key === undefined) return undefined;
    const headers = bearer(key);
    return { name, http, headers, credentials, signal };
  };
  return {
    name,
    submit: (job, signal) =>
      answering(async () => {
        const connection = await connect(signal);
        if (!connection) return refusedBy('credentials', 'no credential');
        const workflow = workflowFor(workflows, job.providerModel, job.sourceCount);
        if (!workflow) return refusedBy('unknown_answer', `no workflow for ${job.sourceCount} source images`);
        return submit(connection, workflow, job, job.seed ?? randomSeed());
      }),
    poll: (jobId, job, signal) =>
      polling(jobId, waits, async (id = '') => {
        const connection = await connect(signal);
        if (!connection) return refusedBy('credentials', 'no credential');
        return lookAtJob(connection, id, job.outputFormat);
      }),
    cancel: async (jobId, _job, signal) => {
      const [id = ''] = neededFor(jobId);
      const connection = await connect(signal);
      return connection && (await stop(connection, id)) ? 'asked' : 'refused';
    },
  };
}

function bearer(key: string): Record<string, string> {
  return key === '' ? {} : { authorization: `Bearer ${key}` };
}

async function submit(
  connection: Connection,
  workflow: Workflow,
  job: RenderJob,
  seed: number,
): Promise<ProviderAnswer> {
  const { http, headers, signal, credentials, name } = connection;
  const uploaded = await uploadedNames(connection, job.sourceCount > 0 ? await job.readSources() : []);
  if (uploaded.kind === 'refused') return uploaded;
  const [width = 0, height = 0] = openaiSizes[job.resolution][job.aspectRatio].split('x').map(Number);
  const filling = { prompt: job.prompt ?? '', seed, width, height, sources: uploaded.names };
  const response = await http.call({
    method: 'POST',
    to: '/prompt',
    headers,
    body: { prompt: filledWorkflow(workflow, filling) },
    signal,
  });
  const { prompt_id: id } = fieldsOf(response.json);
  if (response.status === 200 && typeof id === 'string' && idForm.test(id)) return pendingJob(waits, [id]);
  return refusedAtOnce(response, credentials, name) ?? unknownAnswer(response, codeOfRefusal(response));
}

/**
 * Takes a job out of the queue, and interrupts a running one. An older server interrupts whatever runs, so a job is
 * only interrupted while it is seen to run.
 */
async function stop({ http, headers, signal, ...rest }: Connection, id: string): Promise<boolean> {
  const post = async (to: string, body: object): Promise<boolean> =>
    (await http.call({ method: 'POST', to, headers, body, signal })).status === 200;
  if (!(await post('/queue', { delete: [id] }))) return false;
  const queue = await queueOf({ http, headers, signal, ...rest });
  if (queue.kind !== 'queue') return false;
  return isIn(queue.running, id) ? post('/interrupt', { prompt_id: id }) : true;
}

/** Asks how long the queue is, which costs nothing. Throws when the signal aborts. */
export async function checkComfyui(server: ComfyuiServer, signal: AbortSignal): Promise<CredentialCheck> {
  const { baseUrl, send, credential } = server;
  const http = createVendorHttp({ baseUrl, hosts: [], ...(send && { send }) });
  const keyless = { read: async () => Promise.resolve(''), forget: () => undefined };
  return checkByCall(credential === 'none' ? { ...server, credentials: keyless } : server, (key) =>
    http.call({ method: 'GET', to: '/prompt', headers: bearer(key), signal }),
  );
}
