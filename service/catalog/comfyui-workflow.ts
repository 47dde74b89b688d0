/**
 * The workflows of a ComfyUI server. A workflow is a graph of nodes in ComfyUI's API format, in which an
 * operator sets placeholders for the values of a request: {{prompt}}, {{negative_prompt}}, {{seed}},
 * {{width}}, {{height}}, {{mask}}, and {{source_1}}, {{source_2}} and so on. A placeholder is a value of a
 * node, or a part of its text. Only the command reads the file (readWorkflow). The adapter fills the
 * placeholders (filledWorkflow).
 */
import { mostImageUrls } from '../contract/request-fields.ts';

export type WorkflowValue =
  | string
  | number
  | boolean
  | null
  | readonly WorkflowValue[]
  | { readonly [name: string]: WorkflowValue };

export interface WorkflowNode {
  readonly class_type: string;
  readonly inputs: Readonly<Record<string, WorkflowValue>>;
}

export type Workflow = Readonly<Record<string, WorkflowNode>>;

/** By the provider's names of the models. With two source images, the name of the model and "/2"; with a mask, "/2/mask". */
export type Workflows = Readonly<Record<string, Workflow>>;

/** The name of the model in a file with only one workflow. */
export const onlyWorkflow = 'default';

export interface WorkflowProblem {
  /** The path in the file, such as "workflows.sdxl.6.inputs.text". */
  readonly field: string;
  readonly problem: string;
}

export type ReadWorkflow =
  | { readonly kind: 'read'; readonly workflows: Workflows }
  | { readonly kind: 'wrong'; readonly problems: readonly WorkflowProblem[] };

/** All workflows of a provider are stored in one item of the table, beside everything else of the catalog. */
const mostFileBytes = 100_000;
const placeholderPattern = /\{\{\s*([^{}]*?)\s*\}\}/g;
const negativePlaceholder = 'negative_prompt';
const numberPlaceholders = ['seed', 'width', 'height'] as const;
const nameForm = /^[a-z0-9][a-z0-9._-]{0,63}(\/[1-9]\d?(\/mask)?)?$/i;
const maskPlaceholder = 'mask';

/** Reads a file with one workflow in API format, or several by name. Nodes of the editor are left out. */
export function readWorkflow(text: string): ReadWorkflow {
  const wrong = (field: string, problem: string): ReadWorkflow => ({
    kind: 'wrong',
    problems: [{ field, problem }],
  });
  if (Buffer.byteLength(text) > mostFileBytes) return wrong('file', `is larger than ${mostFileBytes} bytes`);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return wrong('file', 'is no JSON');
  }
  if (!isRecord(file)) return wrong('file', 'must be an object');
  const isOne = !isRecord(file['workflows']);
  const named: Readonly<Record<string, unknown>> = isRecord(file['workflows'])
    ? file['workflows']
    : { [onlyWorkflow]: file };
  const entries = Object.entries(named);
  if (entries.length === 0) return wrong('workflows', 'must name a workflow');
  const problems = entries.flatMap(([name, workflow]) => {
    const at = isOne ? '' : `workflows.${name}`;
    if (!nameForm.test(name))
      return [{ field: at, problem: 'is no name of a model, such as sdxl, or sdxl/1 for one source image' }];
    const [, sources = '0', mask] = name.split('/');
    return problemsOf(workflow, at, { sources: Number(sources), hasMask: mask !== undefined });
  });
  if (problems.length > 0) return { kind: 'wrong', problems };
  const workflows = entries.map(([name, workflow]) => [name, withoutTitles(workflow as Workflow)] as const);
  return { kind: 'read', workflows: Object.fromEntries(workflows) };
}

/** The images of the requests that a workflow is for. */
interface Images {
  readonly sources: number;
  readonly hasMask: boolean;
}

function problemsOf(workflow: unknown, at: string, images: Images): WorkflowProblem[] {
  const field = (...steps: readonly string[]): string =>
    [at, ...steps].filter((step) => step !== '').join('.');
  const whole = field() === '' ? 'file' : field();
  if (!isRecord(workflow)) return [{ field: whole, problem: 'must be an object' }];
  if (Array.isArray(workflow['nodes']))
    return [
      {
        field: whole,
        problem: 'is in the format of the editor; export it in API format: File, Export (API)',
      },
    ];
  const nodes = Object.entries(workflow);
  if (nodes.length === 0) return [{ field: whole, problem: 'must have nodes' }];
  const ofNodes = nodes.flatMap(([id, node]): WorkflowProblem[] => {
    if (!isRecord(node)) return [{ field: field(id), problem: 'must be a node' }];
    if (typeof node['class_type'] !== 'string' || node['class_type'] === '')
      return [{ field: field(id, 'class_type'), problem: 'must name the class of the node' }];
    if (!isRecord(node['inputs'])) return [{ field: field(id, 'inputs'), problem: 'must be an object' }];
    return Object.entries(node['inputs']).flatMap(([input, value]) =>
      placeholdersIn(value)
        .filter((name) => !knownPlaceholders(images).includes(name))
        .map((name) => ({ field: field(id, 'inputs', input), problem: unknownPlaceholder(name, images) })),
    );
  });
  if (ofNodes.length > 0) return ofNodes;
  const placeholders = new Set(nodes.flatMap(([, node]) => placeholdersIn((node as WorkflowNode).inputs)));
  const needed = [
    ...(images.sources === 0 ? ['prompt'] : sourcePlaceholders(images.sources)),
    ...(images.hasMask ? [maskPlaceholder] : []),
    ...(placeholders.has('width') || placeholders.has('height') ? ['width', 'height'] : []),
  ];
  return needed
    .filter((name) => !placeholders.has(name))
    .map((name) => ({ field: whole, problem: `has no place {{${name}}}` }));
}

function unknownPlaceholder(name: string, { sources }: Images): string {
  if (name === maskPlaceholder) return '{{mask}} is for a workflow whose name ends with "/1/mask"';
  const isSource = /^source_[1-9]\d*$/.test(name);
  const why = isSource
    ? `is a source image, and this workflow is for ${sources}: name it with "/" and their number`
    : `is no place; known are ${knownPlaceholders({ sources: 0, hasMask: false }).join(', ')}, source_1`;
  return `{{${name}}} ${why}`;
}

function knownPlaceholders({ sources, hasMask }: Images): readonly string[] {
  const mask = hasMask ? [maskPlaceholder] : [];
  return ['prompt', negativePlaceholder, ...numberPlaceholders, ...sourcePlaceholders(sources), ...mask];
}

function sourcePlaceholders(sources: number): string[] {
  return Array.from({ length: Math.min(sources, mostImageUrls) }, (_, index) => `source_${index + 1}`);
}

function placeholdersIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(placeholderPattern)].map(([, name = '']) => name);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placeholdersIn) : [];
}

function withoutTitles(workflow: Workflow): Workflow {
  return Object.fromEntries(
    Object.entries(workflow).map(([id, { class_type, inputs }]) => [id, { class_type, inputs }]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface WorkflowFilling {
  readonly prompt: string;
  /** Empty: the request has none. */
  readonly negativePrompt: string;
  readonly seed: number;
  readonly width: number;
  readonly height: number;
  readonly sources: readonly string[];
  /** Absent: the request has none. */
  readonly mask?: string;
}

/** The workflow for a model and its images. Undefined: the operator has given none. */
export function workflowFor(
  workflows: Workflows,
  model: string,
  { sources, hasMask }: Images,
): Workflow | undefined {
  const name = `${model}${sources === 0 ? '' : `/${sources}`}${hasMask ? '/mask' : ''}`;
  return Object.hasOwn(workflows, name) ? workflows[name] : undefined;
}

/** Whether one of the workflows takes a mask. */
export function takesMasks(workflows: Workflows): boolean {
  return Object.keys(workflows).some((name) => name.endsWith('/mask'));
}

export function takesNegativePrompt(workflow: Workflow): boolean {
  return Object.values(workflow).some(({ inputs }) => placeholdersIn(inputs).includes(negativePlaceholder));
}

/** Fills the placeholders by value, not in the JSON text, so no prompt can change the workflow. */
export function filledWorkflow(workflow: Workflow, filling: WorkflowFilling): Workflow {
  return Object.fromEntries(
    Object.entries(workflow).map(([id, { class_type, inputs }]) => [
      id,
      {
        class_type,
        inputs: Object.fromEntries(
          Object.entries(inputs).map(([name, value]) => [name, filledValue(value, filling)]),
        ),
      },
    ]),
  );
}

function filledValue(value: WorkflowValue, filling: WorkflowFilling): WorkflowValue {
  if (typeof value === 'string') {
    const [only, name = ''] = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(value) ?? [];
    if (only !== undefined) return fillingOf(name, filling) ?? value;
    return value.replaceAll(placeholderPattern, (whole, inText: string) =>
      String(fillingOf(inText, filling) ?? whole),
    );
  }
  if (isList(value)) return value.map((item) => filledValue(item, filling));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, filledValue(inner, filling)]),
  );
}

function isList(value: WorkflowValue): value is readonly WorkflowValue[] {
  return Array.isArray(value);
}

function fillingOf(name: string, filling: WorkflowFilling): string | number | undefined {
  const source = /^source_([1-9]\d*)$/.exec(name)?.[1];
  if (source !== undefined) return filling.sources[Number(source) - 1];
  if (name === maskPlaceholder) return filling.mask;
  if (name === 'prompt') return filling.prompt;
  if (name === negativePlaceholder) return filling.negativePrompt;
  const number = numberPlaceholders.find((one) => one === name);
  return number === undefined ? undefined : filling[number];
}
