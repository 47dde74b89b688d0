/** The ways in which the fake of ComfyUI answers. The statuses before the queue are those of a proxy in front of it. */
import type { RefusalReason } from '../../../../service/contract/failures.ts';
import { type Fields, fieldsOf, type Reply, type VendorRow } from '../fake-vendor.ts';

export interface ComfyuiRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
  /** The answer to the workflow. Absent: the fake puts it into its queue. */
  readonly submitted?: Reply;
  /** The answer to the first look at the history. */
  readonly firstPoll?: Reply;
  /** The answer to every look at the history after the first. */
  readonly laterPolls?: Reply;
  /** How the workflow ends. Absent: with a picture. 'lost': the server was restarted. */
  readonly ended?:
    | 'interrupted'
    | 'lost'
    | 'error'
    | { readonly exception: string }
    | { readonly outputs: object };
  /** The answer to the first download. */
  readonly firstDownload?: Reply;
}

const ours = { answers: 'credentials', ends: 'ServiceUnavailable' } as const;
const away = { answers: 'unavailable', ends: 'ServiceUnavailable' } as const;
const failed = { answers: 'failed', ends: 'GenerationFailed' } as const;
const nothing = { answers: 'nothing_rendered', ends: 'NothingRendered' } as const;
const unknown = { answers: 'unknown_answer', ends: 'InternalFailure' } as const;
const lost = { answers: 'unknown_outcome', ends: 'InternalFailure' } as const;
const rendered = { answers: 'rendered', ends: 'completed' } as const;
const stopped = { answers: 'cancelled', ends: 'GenerationTimedOut' } as const;

/** An answer of ComfyUI to a workflow that it does not take. */
const nodeErrors = {
  error: {
    type: 'prompt_outputs_failed_validation',
    message: 'Prompt outputs failed validation',
    details: 'Value not in list: ckpt_name',
    extra_info: {},
  },
  node_errors: {
    '4': {
      errors: [
        { type: 'value_not_in_list', message: 'Value not in list', details: 'ckpt_name', extra_info: {} },
      ],
      dependent_outputs: ['9'],
      class_type: 'CheckpointLoaderSimple',
    },
  },
};

export const comfyuiRows: readonly ComfyuiRow[] = [
  { row: 'success', says: 'a picture after two looks', ...rendered },
  { row: 'source', says: 'a picture made from a source image', ...rendered, sources: 1 },
  {
    row: 'preview-too',
    says: 'a preview before the picture that it saved',
    ...rendered,
    ended: {
      outputs: {
        '1': { images: [{ filename: 'gone.png', subfolder: '', type: 'temp' }] },
        '9': { images: [{ filename: 'darkroom_00001_.png', subfolder: '', type: 'output' }] },
      },
    },
  },
  {
    row: 'full-queue',
    says: '429, as the queue is full',
    ...away,
    submitted: { status: 429, body: 'Too many requests' },
  },
  { row: 'down', says: '503', ...away, submitted: { status: 503, body: 'Service Unavailable' } },
  {
    row: 'server-error',
    says: '500',
    ...lost,
    submitted: { status: 500, body: '500 Internal Server Error' },
  },
  { row: 'bad-gateway', says: '502', ...lost, submitted: { status: 502, body: '<html>Bad Gateway</html>' } },
  {
    row: 'break',
    says: 'the connection is closed after the submission',
    ...lost,
    submitted: { status: 'break' },
  },
  { row: 'unauthorized', says: '401', ...ours, submitted: { status: 401, body: 'Unauthorized' } },
  { row: 'forbidden', says: '403', ...ours, submitted: { status: 403, body: 'Forbidden' } },
  { row: 'payment', says: '402', ...ours, submitted: { status: 402, body: 'Payment Required' } },
  { row: 'key-revoked', says: '401 when the job is looked at', ...ours, firstPoll: { status: 401 } },
  {
    row: 'node-errors',
    says: '400 about a file that it does not have',
    ...unknown,
    submitted: { status: 400, body: nodeErrors },
  },
  {
    row: 'unknown-shape',
    says: '200 without the id of a job',
    ...unknown,
    submitted: { status: 200, body: { number: 1 } },
  },
  {
    row: 'redirect',
    says: '302 to another host',
    ...unknown,
    submitted: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  { row: 'execution-error', says: 'a node fails', ...failed, ended: { exception: 'RuntimeError' } },
  { row: 'silent-error', says: 'failed, without a reason', ...failed, ended: 'error' },
  {
    row: 'out-of-memory',
    says: 'the memory of the GPU is full',
    ...away,
    ended: { exception: 'torch.OutOfMemoryError' },
  },
  {
    row: 'bad-source',
    says: 'a node cannot read the source image',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    sources: 1,
    ended: { exception: 'PIL.UnidentifiedImageError' },
  },
  { row: 'interrupted', says: 'somebody interrupts the job', ...stopped, ended: 'interrupted' },
  { row: 'lost', says: 'a restart loses the job', ...stopped, ended: 'lost' },
  { row: 'no-picture', says: 'no node has saved a picture', ...nothing, ended: { outputs: {} } },
  {
    row: 'text-only',
    says: 'a node that shows a text',
    ...nothing,
    ended: { outputs: { '9': { text: ['a cat'] } } },
  },
  {
    row: 'empty-picture',
    says: 'a picture of no bytes',
    ...nothing,
    firstDownload: { status: 200, body: '' },
  },
  {
    row: 'page',
    says: 'a page in place of the picture',
    answers: 'rendered',
    ends: 'InternalFailure',
    firstDownload: { status: 200, body: '<html>' },
  },
  { row: 'picture-gone', says: '404 in place of the picture', ...unknown, firstDownload: { status: 404 } },
  {
    row: 'nameless-picture',
    says: 'a picture without a name',
    ...unknown,
    ended: { outputs: { '9': { images: [{ type: 'output' }] } } },
  },
  {
    row: 'unknown-history',
    says: 'a history that is no JSON',
    ...unknown,
    firstPoll: { status: 200, body: '<html>' },
  },
  {
    row: 'unknown-outputs',
    says: 'an entry without outputs',
    ...unknown,
    laterPolls: { status: 200, body: { '<id>': { status: {} } } },
  },
  {
    row: 'poll-broke',
    says: 'the connection of the first look is closed',
    ...rendered,
    firstPoll: { status: 'break' },
  },
  { row: 'poll-throttled', says: '429 to the first look', ...rendered, firstPoll: { status: 429 } },
  { row: 'poll-down', says: '502 to the first look', ...rendered, firstPoll: { status: 502 } },
  {
    row: 'download-broke',
    says: 'the connection of the first download is closed',
    ...rendered,
    firstDownload: { status: 'break' },
  },
];

/**
 * What ComfyUI refuses of a workflow, for the nodes of client/examples/workflows/comfyui.json. The names of the errors are
 * those of validate_prompt in execution.py of github.com/Comfy-Org/ComfyUI (read 2026-11-23).
 */
interface Input {
  readonly type: 'link' | 'text' | 'whole' | 'number' | 'file' | 'source';
  readonly min?: number;
  readonly max?: number;
}

const link: Input = { type: 'link' };
const text: Input = { type: 'text' };
const side: Input = { type: 'whole', min: 16, max: 16_384 };

const classes: Readonly<Record<string, Readonly<Record<string, Input>>>> = {
  CheckpointLoaderSimple: { ckpt_name: { type: 'file' } },
  CLIPTextEncode: { text, clip: link },
  EmptyLatentImage: { width: side, height: side, batch_size: { type: 'whole', min: 1, max: 4_096 } },
  ImageScale: { image: link, upscale_method: text, width: side, height: side, crop: text },
  KSampler: {
    seed: { type: 'whole', min: 0, max: 2 ** 64 },
    steps: { type: 'whole', min: 1, max: 10_000 },
    cfg: { type: 'number' },
    sampler_name: text,
    scheduler: text,
    denoise: { type: 'number', min: 0, max: 1 },
    model: link,
    positive: link,
    negative: link,
    latent_image: link,
  },
  LoadImage: { image: { type: 'source' } },
  PreviewImage: { images: link },
  SaveImage: { images: link, filename_prefix: text },
  VAEDecode: { samples: link, vae: link },
  VAEEncode: { pixels: link, vae: link },
};
const outputClasses = ['SaveImage', 'PreviewImage'];
const checkpoints = ['sd_xl_base_1.0.safetensors'];

/** @param files the names of the uploaded images */
export function refusalOfWorkflow(json: unknown, files: ReadonlySet<string>): Reply | undefined {
  const { prompt } = fieldsOf(json);
  if (prompt === undefined) return refused('no_prompt', {});
  const nodes = Object.entries(fieldsOf(prompt));
  for (const [, node] of nodes) {
    const { class_type: name } = fieldsOf(node);
    if (typeof name !== 'string' || !Object.hasOwn(classes, name)) return refused('invalid_prompt', {});
  }
  const isOutput = (node: unknown): boolean => outputClasses.includes(String(fieldsOf(node)['class_type']));
  if (!nodes.some(([, node]) => isOutput(node))) return refused('prompt_no_outputs', {});
  const errors = nodes.flatMap(([id, node]) => {
    const own = errorsOf(fieldsOf(node), fieldsOf(prompt), files);
    return own.length === 0 ? [] : [[id, own, String(fieldsOf(node)['class_type'])] as const];
  });
  return errors.length === 0
    ? undefined
    : refused(
        'prompt_outputs_failed_validation',
        Object.fromEntries(
          errors.map(([id, types, name]) => [
            id,
            {
              errors: types.map((type) => ({ type, message: type, details: 'a text', extra_info: {} })),
              dependent_outputs: ['9'],
              class_type: name,
            },
          ]),
        ),
      );
}

function refused(type: string, nodeErrors: object): Reply {
  return {
    status: 400,
    body: { error: { type, message: type, details: 'a text', extra_info: {} }, node_errors: nodeErrors },
  };
}

function errorsOf(node: Fields, prompt: Fields, files: ReadonlySet<string>): string[] {
  const inputs = fieldsOf(node['inputs']);
  return Object.entries(classes[String(node['class_type'])] ?? {}).flatMap(([name, input]) => {
    if (!Object.hasOwn(inputs, name)) return ['required_input_missing'];
    return errorOf(inputs[name], input, prompt, files) ?? [];
  });
}

function errorOf(
  value: unknown,
  input: Input,
  prompt: Fields,
  files: ReadonlySet<string>,
): string | undefined {
  const { type, min = -Infinity, max = Infinity } = input;
  switch (type) {
    case 'link':
      if (!Array.isArray(value) || value.length !== 2) return 'bad_linked_input';
      return Object.hasOwn(prompt, String(value[0])) ? undefined : 'invalid_prompt';
    case 'text':
      return typeof value === 'string' ? undefined : 'invalid_input_type';
    case 'whole':
    case 'number': {
      // ComfyUI would convert a text of digits. The fake does not, so that a test sees that the adapter sends a number.
      if (typeof value !== 'number' || (type === 'whole' && !Number.isInteger(value)))
        return 'invalid_input_type';
      if (value < min) return 'value_smaller_than_min';
      return value > max ? 'value_bigger_than_max' : undefined;
    }
    case 'file':
      return checkpoints.includes(String(value)) ? undefined : 'value_not_in_list';
    case 'source':
      return files.has(String(value)) ? undefined : 'custom_validation_failed';
  }
}
