/**
 * What ComfyUI refuses of a workflow, for the nodes of client/examples/workflows/comfyui.json. The names of the errors are
 * those of validate_prompt in execution.py of github.com/Comfy-Org/ComfyUI (read 2026-11-23).
 */
import { type Fields, fieldsOf, type Reply } from '../fake-vendor.ts';

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
