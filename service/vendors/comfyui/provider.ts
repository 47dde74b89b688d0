/**
 * ComfyUI on a server of the operator. The adapter uploads the source images, puts a workflow into the server's
 * queue, polls the history until the workflow has ended, and fetches the picture.
 *
 * Read on 2026-11-23: https://docs.comfy.org/development/comfyui-server/comms_routes (routes), server.py and
 * execution.py of github.com/Comfy-Org/ComfyUI (bodies and statuses), its pull request 9607 (an interrupt of one
 * prompt).
 *
 * ComfyUI has no moderation, no limit of its queue and no key. A proxy in front of it may have all three. It
 * reports progress only over a WebSocket. Not verified: the words by which nodes of other authors fail.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  filledWorkflow,
  takesMasks,
  takesNegativePrompt,
  type Workflow,
  workflowFor,
  type Workflows,
} from '../../catalog/comfyui-workflow.ts';
import { openaiSizes } from '../openai-sizes.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  type Refused,
  refusedBy,
  type RenderJob,
  type SourceImage,
  type VendorSettings,
} from '../provider.ts';
import {
  answering,
  CallBroke,
  checkByCall,
  createVendorHttp,
  detailOf,
  fieldsOf,
  retryAfterOf,
  type Send,
  unknownAnswer,
  type VendorResponse,
} from '../vendor-http.ts';
import {
  isTrouble,
  neededFor,
  pendingJob,
  polling,
  refusedAtOnce,
  refusedCredentials,
  type Waits,
} from '../vendor-jobs.ts';
import { codeOfRefusal, type Connection, isIn, readJob, queueOf } from './result.ts';

/** Source images of a workflow are files of the server, so they are uploaded before the workflow. */
type Uploaded = { readonly kind: 'uploaded'; readonly names: readonly string[] } | Refused;

/** The names by which a node of the workflow reads the images. */
async function uploadedNames(connection: Connection, sources: readonly SourceImage[]): Promise<Uploaded> {
  const names: string[] = [];
  for (const source of sources) {
    const name = await upload(connection, source);
    if (typeof name !== 'string') return name;
    names.push(name);
  }
  return { kind: 'uploaded', names };
}

/** The name comes from the bytes: the same image is one file of the server, however often it is sent. */
async function upload(
  connection: Connection,
  { contentType, bytes }: SourceImage,
): Promise<string | Refused> {
  const { http, headers, signal, credentials, name } = connection;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const file = `darkroom-${hash}.${contentType.replace('image/', '')}`;
  const form = new FormData();
  form.append('image', new Blob([new Uint8Array(bytes)], { type: contentType }), file);
  let response: VendorResponse;
  try {
    response = await http.call({ method: 'POST', to: '/upload/image', headers, body: form, signal });
  } catch (error) {
    if (!(error instanceof CallBroke)) throw error;
    // No workflow was sent, so nothing is rendered.
    return refusedBy('unavailable', error.code);
  }
  if (isTrouble(response))
    return refusedBy('unavailable', detailOf(response, 'upload'), retryAfterOf(response));
  const refused = refusedCredentials(response, credentials, name);
  if (refused) return refused;
  // The server has a limit for bodies, 100 MB by default.
  if (response.status === 413) return refusedBy('source_image', detailOf(response, 'upload'));
  const { name: saved, subfolder = '' } = fieldsOf(response.json);
  if (response.status !== 200 || typeof saved !== 'string' || typeof subfolder !== 'string')
    return unknownAnswer(response, 'upload');
  return subfolder === '' ? saved : `${subfolder}/${saved}`;
}

export interface ComfyuiServer extends VendorSettings {
  readonly baseUrl: string;
  readonly workflows: Workflows;
  /** 'none': the server asks for no key. */
  readonly credential: 'key' | 'none';
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
    sends: takesMasks(workflows) ? ['negativePrompt', 'mask'] : ['negativePrompt'],
    submit: (job, signal) =>
      answering(async () => {
        const connection = await connect(signal);
        if (!connection) return refusedBy('credentials', 'no credential');
        const images = { sources: job.sourceCount, hasMask: job.readMask !== undefined };
        const workflow = workflowFor(workflows, job.providerModel, images);
        if (!workflow) {
          const asked = `${images.sources} source images${images.hasMask ? ' and a mask' : ''}`;
          return refusedBy('unknown_answer', `no workflow for ${asked}`);
        }
        if (job.negativePrompt != null && !takesNegativePrompt(workflow))
          return refusedBy('unknown_answer', 'no place for a negative prompt');
        return submit(connection, workflow, job, job.seed ?? randomSeed());
      }),
    poll: (jobId, job, signal) =>
      polling(jobId, waits, async (id = '') => {
        const connection = await connect(signal);
        if (!connection) return refusedBy('credentials', 'no credential');
        return readJob(connection, id, job.outputFormat);
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
  const given = job.sourceCount > 0 ? await job.readSources() : [];
  const mask = await job.readMask?.();
  const uploaded = await uploadedNames(connection, mask ? [...given, mask] : given);
  if (uploaded.kind === 'refused') return uploaded;
  const [width = 0, height = 0] = openaiSizes[job.resolution][job.aspectRatio].split('x').map(Number);
  const { prompt, negativePrompt } = job;
  const filling = {
    prompt: prompt ?? '',
    negativePrompt: negativePrompt ?? '',
    seed,
    width,
    height,
    sources: uploaded.names,
    ...(mask && { mask: uploaded.names.at(-1) ?? '' }),
  };
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

/** Takes a job out of the queue, or interrupts it while it runs: older servers interrupt any job. */
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
