/** Workflow files of ComfyUI: reading, problems, and filling the placeholders. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCatalog } from '../../admin/catalog/catalog-files.ts';
import { checkOperatorFile } from '../../admin/catalog/operator-file.ts';
import {
  filledWorkflow,
  onlyWorkflow,
  readWorkflow,
  type Workflow,
  type WorkflowFilling,
  workflowFor,
} from '../../service/catalog/comfyui-workflow.ts';
import {
  isOlderRevision,
  mergeCatalog,
  mergeCosts,
  nextRevision,
  type OperatorCatalog,
} from '../../service/catalog/operator-catalog.ts';
import { providerDefinitionSchema } from '../../service/catalog/provider-definition-schema.ts';
import { providers } from '../../service/catalog/providers.ts';
import { catalog } from './catalog-fixture.ts';

const node = (inputs: object): object => ({ '6': { class_type: 'CLIPTextEncode', inputs } });

const read = (file: unknown) => readWorkflow(JSON.stringify(file));

const problems = (file: unknown): readonly string[] => {
  const answer = read(file);
  return answer.kind === 'wrong' ? answer.problems.map(({ field, problem }) => `${field}: ${problem}`) : [];
};

describe('A workflow file', () => {
  it('The example is read, and a model has a workflow for each number of its source images', () => {
    const example = readWorkflow(readFileSync('client/examples/workflows/comfyui.json', 'utf8'));
    if (example.kind !== 'read') throw new Error(JSON.stringify(example.problems));
    expect(Object.keys(example.workflows)).toEqual(['sdxl', 'sdxl/1', 'sdxl/1/mask']);
    const of = (model: string, sources: number, hasMask = false) =>
      workflowFor(example.workflows, model, { sources, hasMask });
    expect(of('sdxl', 0)).toBe(example.workflows['sdxl']);
    expect(of('sdxl', 1)).toBe(example.workflows['sdxl/1']);
    expect(of('sdxl', 2)).toBeUndefined();
    expect(of('constructor', 0)).toBeUndefined();
    expect(of('sdxl', 1, true)).toBe(example.workflows['sdxl/1/mask']);
    expect(of('sdxl', 2, true)).toBeUndefined();
  });

  it('A file with one workflow has the name "default", and titles of nodes are left out', () => {
    const titled = {
      '6': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' }, _meta: { title: 'T' } },
    };
    expect(read(titled)).toEqual({
      kind: 'read',
      workflows: { [onlyWorkflow]: node({ text: '{{prompt}}' }) },
    });
  });

  it.each<[string, unknown, string]>([
    ['a list', [], 'file: must be an object'],
    ['no nodes', {}, 'file: must have nodes'],
    ['no workflows', { workflows: {} }, 'workflows: must name a workflow'],
    ['a workflow that is a text', { workflows: { a: 'b' } }, 'workflows.a: must be an object'],
    [
      'the format of the editor',
      { nodes: [], links: [] },
      'file: is in the format of the editor; export it in API format: File, Export (API)',
    ],
    ['a node that is a text', { '6': 'CLIPTextEncode' }, '6: must be a node'],
    ['a node without a class', { '6': { inputs: {} } }, '6.class_type: must name the class of the node'],
    ['a node without inputs', { '6': { class_type: 'A' } }, '6.inputs: must be an object'],
    ['no place for the prompt', node({ text: 'a cat' }), 'file: has no place {{prompt}}'],
    ['a width alone', node({ text: '{{prompt}} {{width}}' }), 'file: has no place {{height}}'],
    [
      'an unknown placeholder',
      node({ text: '{{prompt}}', seed: '{{sead}}' }),
      '6.inputs.seed: {{sead}} is no place; known are prompt, negative_prompt, seed, width, height, source_1',
    ],
    [
      'an unknown placeholder deep inside',
      { workflows: { 'my-model': node({ text: '{{prompt}}', list: [{ a: '{{ toString }}' }] }) } },
      'workflows.my-model.6.inputs.list: {{toString}} is no place; known are prompt, negative_prompt, seed, width, height, source_1',
    ],
    [
      'a source image in a workflow without one',
      node({ text: '{{prompt}}', image: '{{source_1}}' }),
      '6.inputs.image: {{source_1}} is a source image, and this workflow is for 0: name it with "/" and their number',
    ],
    [
      'a workflow for two source images that reads one',
      { workflows: { 'a/2': node({ image: '{{source_1}}' }) } },
      'workflows.a/2: has no place {{source_2}}',
    ],
    [
      'a mask in a workflow without one',
      { workflows: { 'a/1': node({ image: '{{source_1}}', mask: '{{mask}}' }) } },
      'workflows.a/1.6.inputs.mask: {{mask}} is for a workflow whose name ends with "/1/mask"',
    ],
    [
      'a workflow for a mask that reads none',
      { workflows: { 'a/1/mask': node({ image: '{{source_1}}' }) } },
      'workflows.a/1/mask: has no place {{mask}}',
    ],
    [
      'a name that is no model',
      { workflows: { 'a b': node({ text: '{{prompt}}' }) } },
      'workflows.a b: is no name of a model, such as sdxl, or sdxl/1 for one source image',
    ],
  ])('A file with %s is refused, and the field is named', (_what, file, expected) => {
    expect(problems(file)).toEqual([expected]);
  });

  it('Every problem of a file is named at once', () => {
    const file = { workflows: { a: node({ text: '{{x}}', seed: '{{y}}' }), b: {} } };
    expect(problems(file)).toHaveLength(3);
  });

  it('Text that is no JSON, and a file that is too large, are refused', () => {
    const field = 'file';
    expect(readWorkflow('{')).toEqual({ kind: 'wrong', problems: [{ field, problem: 'is no JSON' }] });
    expect(readWorkflow(' '.repeat(100_001))).toEqual({
      kind: 'wrong',
      problems: [{ field, problem: 'is larger than 100000 bytes' }],
    });
  });
});

describe('The definition of a ComfyUI', () => {
  const definition = {
    name: 'studio',
    title: 'Studio',
    style: 'comfyui',
    baseUrl: 'https://gpu.example.com',
    credential: 'none',
    network: 'public',
    imageHosts: [],
    differences: {},
  };
  const workflows = { default: node({ text: '{{prompt}}' }) };
  const wrong = (change: object): unknown =>
    providerDefinitionSchema
      .safeParse({ ...definition, ...change })
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

  it('The definition keeps the workflows, and no other style has any', () => {
    expect(providerDefinitionSchema.parse({ ...definition, workflows })).toEqual({
      ...definition,
      workflows,
    });
    expect(wrong({ style: 'openai', workflows })).toEqual(['workflows is for the style comfyui']);
    expect(providerDefinitionSchema.parse({ ...definition, style: 'openai' })).not.toHaveProperty(
      'workflows',
    );
  });

  it('A ComfyUI without workflows, or with differences, is refused', () => {
    expect(wrong({})).toEqual(['workflows is needed by the style comfyui']);
    expect(wrong({ workflows, differences: { seed: null } })).toEqual([
      'differences has nothing to change in the style comfyui',
    ]);
  });
});

describe('The example of a catalog', () => {
  it('The example sells a model of the example of workflows', () => {
    const text = readFileSync('client/examples/catalogs/comfyui.json', 'utf8');
    const { models } = checkOperatorFile(text, readCatalog(), [...Object.keys(providers), 'comfyui']);
    expect(models).toMatchObject({ sdxl: { routes: [{ provider: 'comfyui', provider_model: 'sdxl' }] } });
  });
});

describe('The placeholders of a workflow', () => {
  const filling: WorkflowFilling = {
    prompt: 'a cat',
    negativePrompt: 'a dog',
    seed: 7,
    width: 1024,
    height: 768,
    sources: ['in/a.png'],
  };
  const filled = (inputs: Workflow[string]['inputs'], change: Partial<WorkflowFilling> = {}): unknown =>
    filledWorkflow({ '1': { class_type: 'A', inputs } }, { ...filling, ...change })['1']?.inputs;

  it('A value that is only a placeholder of a number becomes a number, and text around a placeholder stays', () => {
    expect(
      filled({
        text: 'a photo of {{prompt}}, {{ width }} wide, {{prompt}}',
        without: 'blurry, {{negative_prompt}}',
        seed: '{{seed}}',
        width: '{{ width }}',
        image: '{{source_1}}',
        model: ['4', 0],
        deep: { list: ['{{height}}', true, null, 2] },
      }),
    ).toEqual({
      text: 'a photo of a cat, 1024 wide, a cat',
      without: 'blurry, a dog',
      seed: 7,
      width: 1024,
      image: 'in/a.png',
      model: ['4', 0],
      deep: { list: [768, true, null, 2] },
    });
  });

  it.each([
    '"}, "6": {"class_type": "Evil"}',
    '{{seed}} {{source_1}}',
    "$& $1 $' \\n \\u0000",
    '{"a": [1]}',
    'it\'s "quoted"\nand two lines',
  ])('The prompt %j stays text, whatever it contains', (prompt) => {
    expect(filled({ text: '{{prompt}}', more: '<{{prompt}}>' }, { prompt })).toEqual({
      text: prompt,
      more: `<${prompt}>`,
    });
  });
});

const pro = catalog.models.find(({ id }) => id === 'sandbox-pro');

const own = { ...pro, name: 'Own', id: undefined };

function merged(models: OperatorCatalog['models']): ReturnType<typeof mergeCatalog> {
  return mergeCatalog(catalog, { revision: '1-a', models });
}

function modelOf(id: string, models: OperatorCatalog['models']): unknown {
  return merged(models).models.find((model) => model.id === id);
}

describe('the merged catalog', () => {
  it('An empty operator’s catalog leaves our models as they are', () => {
    expect(merged({})).toEqual({ models: catalog.models, revision: '1-a' });
  });

  it('A change replaces only the members that it names, and a list as a whole', () => {
    const pricing = [{ resolution: '2K', usd: 1, usd_per_input_image: 0 }];
    expect(modelOf('sandbox-pro', { 'sandbox-pro': { pricing, name: 'Dear' } })).toEqual({
      ...pro,
      pricing,
      name: 'Dear',
    });
  });

  it('Null withdraws a model of ours, and the others keep their order', () => {
    const ids = merged({ 'sandbox-pro': null }).models.map(({ id }) => id);
    expect(ids).toEqual(catalog.models.map(({ id }) => id).filter((id) => id !== 'sandbox-pro'));
  });

  it('A whole model of the operator comes after ours, under the name of its member', () => {
    expect(merged({ own }).models.at(-1)).toEqual({ ...own, id: 'own' });
  });

  it('A date that a change removes, or that a new model does not name, is null', () => {
    const deprecated = { ...catalog, models: [{ ...own, id: 'old', deprecated_at: '2026-01-01' }] };
    const stored = { revision: '1-a', models: { old: { deprecated_at: null } } };
    expect(mergeCatalog(deprecated as typeof catalog, stored).models[0]?.deprecated_at).toBeNull();
    const { deprecated_at: _from, sunset_at: _to, ...dateless } = own;
    expect(modelOf('own', { own: dateless })).toMatchObject({ deprecated_at: null, sunset_at: null });
  });

  it.each(['name', 'description', 'routes', 'pricing', 'max_prompt_length', 'default_aspect_ratio'])(
    'A model without %s is left out: a release has removed what it changed',
    (member) => {
      expect(modelOf('own', { own: { ...own, [member]: null } })).toBeUndefined();
      expect(modelOf('gone', { gone: { name: 'Other' } })).toBeUndefined();
    },
  );

  it('A name of the language is a model like every other, and harms nothing', () => {
    const models = JSON.parse('{"__proto__":{"name":"x"},"constructor":null}') as OperatorCatalog['models'];
    expect(merged(models).models).toEqual(catalog.models);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});

describe('the merged costs', () => {
  const cost = {
    provider: 'bfl',
    provider_model: 'flux',
    quality: null,
    images: [],
    source: null,
    checked_at: '2026-11-23',
  };
  it('A cost of the operator replaces ours for the same provider, model and quality, and no other', () => {
    const ours = [cost, { ...cost, quality: 'low' as const }, { ...cost, provider: 'fal' }];
    const dearer = { ...cost, source: 'https://contract.test' };
    expect(mergeCosts({ costs: ours }, [dearer]).costs).toEqual([ours[1], ours[2], dearer]);
    expect(mergeCosts({ costs: ours }, []).costs).toEqual(ours);
  });
});

describe('a revision', () => {
  it('gets the next number, and differs from another revision of the same number', () => {
    expect([nextRevision(undefined, 'a'), nextRevision('9-b', 'c')]).toEqual(['1-a', '10-c']);
    expect([isOlderRevision('9-b', '10-a'), isOlderRevision('10-a', '9-b')]).toEqual([true, false]);
    expect(isOlderRevision('9-b', '9-a')).toBe(false);
  });
});
