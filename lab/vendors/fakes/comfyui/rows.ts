/** The ways in which the fake of ComfyUI answers. The statuses before the queue are those of a proxy in front of it. */
import { type AnsweredRow, type Fields, fieldsOf, type Reply, row } from '../fake-vendor.ts';

export interface ComfyuiRow extends AnsweredRow {
  /** The answer to the workflow. Absent: the fake puts it into its queue. */
  readonly submitted?: Reply;
  /** The answer to the first poll of the history. */
  readonly firstPoll?: Reply;
  /** The answer to every later poll of the history. */
  readonly laterPolls?: Reply;
  /** How the workflow ends. Absent: with a picture. 'lost': the server was restarted. */
  readonly ended?:
    | 'interrupted'
    | 'lost'
    | 'error'
    | { readonly exception: string }
    | { readonly outputs: object };
  readonly firstDownload?: Reply;
}

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
  row('success', 'a picture after two looks', 'rendered'),
  row('source', 'a picture made from a source image', 'rendered', { sources: 1 }),
  row('preview-too', 'a preview before the picture that it saved', 'rendered', {
    ended: {
      outputs: {
        '1': { images: [{ filename: 'gone.png', subfolder: '', type: 'temp' }] },
        '9': { images: [{ filename: 'darkroom_00001_.png', subfolder: '', type: 'output' }] },
      },
    },
  }),
  row('full-queue', '429, as the queue is full', 'unavailable', {
    submitted: { status: 429, body: 'Too many requests' },
  }),
  row('down', '503', 'unavailable', { submitted: { status: 503, body: 'Service Unavailable' } }),
  row('server-error', '500', 'unknown_outcome', {
    submitted: { status: 500, body: '500 Internal Server Error' },
  }),
  row('bad-gateway', '502', 'unknown_outcome', {
    submitted: { status: 502, body: '<html>Bad Gateway</html>' },
  }),
  row('break', 'the connection is closed after the submission', 'unknown_outcome', {
    submitted: { status: 'break' },
  }),
  row('unauthorized', '401', 'credentials', { submitted: { status: 401, body: 'Unauthorized' } }),
  row('forbidden', '403', 'credentials', { submitted: { status: 403, body: 'Forbidden' } }),
  row('payment', '402', 'credentials', { submitted: { status: 402, body: 'Payment Required' } }),
  row('key-revoked', '401 when the job is looked at', 'credentials', { firstPoll: { status: 401 } }),
  row('node-errors', '400 about a file that it does not have', 'unknown_answer', {
    submitted: { status: 400, body: nodeErrors },
  }),
  row('unknown-shape', '200 without the id of a job', 'unknown_answer', {
    submitted: { status: 200, body: { number: 1 } },
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    submitted: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  }),
  row('execution-error', 'a node fails', 'failed', { ended: { exception: 'RuntimeError' } }),
  row('silent-error', 'failed, without a reason', 'failed', { ended: 'error' }),
  row('out-of-memory', 'the memory of the GPU is full', 'unavailable', {
    ended: { exception: 'torch.OutOfMemoryError' },
  }),
  row('bad-source', 'a node cannot read the source image', 'source_image', {
    sources: 1,
    ended: { exception: 'PIL.UnidentifiedImageError' },
  }),
  row('interrupted', 'somebody interrupts the job', 'cancelled', { ended: 'interrupted' }),
  row('lost', 'a restart loses the job', 'cancelled', { ended: 'lost' }),
  row('no-picture', 'no node has saved a picture', 'nothing_rendered', { ended: { outputs: {} } }),
  row('text-only', 'a node that shows a text', 'nothing_rendered', {
    ended: { outputs: { '9': { text: ['a cat'] } } },
  }),
  row('empty-picture', 'a picture of no bytes', 'nothing_rendered', {
    firstDownload: { status: 200, body: '' },
  }),
  row('page', 'a page in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    firstDownload: { status: 200, body: '<html>' },
  }),
  row('picture-gone', '404 in place of the picture', 'unknown_answer', { firstDownload: { status: 404 } }),
  row('nameless-picture', 'a picture without a name', 'unknown_answer', {
    ended: { outputs: { '9': { images: [{ type: 'output' }] } } },
  }),
  row('unknown-history', 'a history that is no JSON', 'unknown_answer', {
    firstPoll: { status: 200, body: '<html>' },
  }),
  row('unknown-outputs', 'an entry without outputs', 'unknown_answer', {
    laterPolls: { status: 200, body: { '<id>': { status: {} } } },
  }),
  row('poll-broke', 'the connection of the first look is closed', 'rendered', {
    firstPoll: { status: 'break' },
  }),
  row('poll-throttled', '429 to the first look', 'rendered', { firstPoll: { status: 429 } }),
  row('poll-down', '502 to the first look', 'rendered', { firstPoll: { status: 502 } }),
  row('download-broke', 'the connection of the first download is closed', 'rendered', {
    firstDownload: { status: 'break' },
  }),
  { ...row('masked', 'a picture that keeps what the mask protects', 'rendered'), sources: 1, isMasked: true },
  {
    ...row('mask-ignored', 'a picture that is painted anew in spite of the mask', 'rendered'),
    sources: 1,
    isMasked: true,
    ends: 'NothingRendered',
  },
];

/**
 * What ComfyUI refuses of a workflow, for the nodes of client/examples/workflows/comfyui.json. The names of the errors are
 * those of validate_prompt in execution.py of github.com/Comfy-Org/ComfyUI (read 2026-11-23).
 */
interface Input {
  readonly type: 'link' | 'text' | 'whole' | 'number' | 'switch' | 'file' | 'source';
  readonly min?: number;
  readonly max?: number;
}

const link: Input = { type: 'link' };
const text: Input = { type: 'text' };
const side: Input = { type: 'whole', min: 16, max: 16_384 };
const place: Input = { type: 'whole', min: 0, max: 16_384 };

const classes: Readonly<Record<string, Readonly<Record<string, Input>>>> = {
  CheckpointLoaderSimple: { ckpt_name: { type: 'file' } },
  CLIPTextEncode: { text, clip: link },
  EmptyLatentImage: { width: side, height: side, batch_size: { type: 'whole', min: 1, max: 4_096 } },
  ImageScale: { image: link, upscale_method: text, width: side, height: side, crop: text },
  ImageCompositeMasked: {
    destination: link,
    source: link,
    x: place,
    y: place,
    resize_source: { type: 'switch' },
  },
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
  SetLatentNoiseMask: { samples: link, mask: link },
  VAEDecode: { samples: link, vae: link },
  VAEEncode: { pixels: link, vae: link },
};
const outputClasses = ['SaveImage', 'PreviewImage'];
const checkpoints = ['sd_xl_base_1.0.safetensors'];

/** @param files the names of the uploaded images */
export function refusalOfWorkflow(
  json: unknown,
  files: Pick<ReadonlyMap<string, unknown>, 'has'>,
): Reply | undefined {
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

function errorsOf(node: Fields, prompt: Fields, files: Pick<ReadonlyMap<string, unknown>, 'has'>): string[] {
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
  files: Pick<ReadonlyMap<string, unknown>, 'has'>,
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
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'invalid_input_type';
    case 'file':
      return checkpoints.includes(String(value)) ? undefined : 'value_not_in_list';
    case 'source':
      return files.has(String(value)) ? undefined : 'custom_validation_failed';
  }
}
