import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leastPriceMicros } from '../../admin/catalog/margin-rule.ts';
import { checkOperatorFile, type OperatorFile } from '../../admin/catalog/operator-file.ts';
import { changesBetween } from '../../admin/commands/operator-catalog.ts';
import { FileProblems, OperatorError } from '../../admin/operator-error.ts';
import { mergeCatalog } from '../../service/catalog/operator-catalog.ts';
import { asMicros } from '../../service/values/money.ts';
import { catalog } from '../catalog/catalog-fixture.ts';
import { readPage, root } from '../docs/pages.ts';

const examples = join(root, 'client/examples/catalogs');

const exampleText = readFileSync(join(examples, 'vllm-omni-qwen-image.json'), 'utf8');

const names = ['sandbox', 'sandbox-large', 'bfl', 'fal', 'replicate', 'gpu'];

const known = names.join(', ');

const example = JSON.parse(exampleText) as {
  models: { 'qwen-image': Record<string, unknown> & { routes: Record<string, unknown>[] } };
  costs: Record<string, unknown>[];
};

function checked(text: string, providers: readonly string[] = names): OperatorFile {
  return checkOperatorFile(text, onlyKnown, providers);
}

/** Our catalog with the providers of `names` alone. */
const onlyKnown = {
  models: catalog.models.filter(({ routes }) => routes.every(({ provider }) => names.includes(provider))),
};

/** The problems of the file. */
function problems(file: unknown, providers?: readonly string[]): readonly string[] {
  try {
    checked(typeof file === 'string' ? file : JSON.stringify(file), providers);
  } catch (error) {
    if (error instanceof FileProblems) return error.problems;
    if (error instanceof OperatorError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const withModel = (change: object, id = 'my-flux'): object => ({
  models: { [id]: { ...example.models['qwen-image'], ...change } },
});

const withRoute = (change: object): object =>
  withModel({ routes: [{ ...example.models['qwen-image'].routes[0], ...change }] });

const limits = {
  content_types: ['image/png'],
  max_bytes: 1_000,
  min_side: 1,
  max_side: 100,
  max_pixels: 10_000,
};

describe('A file of the operator’s own models', () => {
  it.each(readdirSync(examples))('The example %s is right', (file) => {
    const text = readFileSync(join(examples, file), 'utf8');
    expect(checked(text, [...names, 'comfyui']).models).toEqual((JSON.parse(text) as OperatorFile).models);
  });

  it('The example of the page is right, and it makes the changes that the page describes', () => {
    const page = readPage('docs/providers.md').blocks.find((block) => block.example === 'own-catalog');
    const stored = checkOperatorFile(page?.text ?? '', catalog, [
      ...new Set(catalog.models.flatMap(({ routes }) => routes.map(({ provider }) => provider))),
    ]);
    const after = mergeCatalog(catalog, { ...stored, revision: '1-a' });
    expect(changesBetween(catalog, after)).toEqual([
      { model: 'stable-image-ultra', change: 'withdrawn', prices: ['1K 0.2 -> not sold'], members: [] },
      {
        model: 'flux-2-pro',
        change: 'changed',
        prices: [
          '1K 0.045 + 0.085 an image -> 0.06 + 0.09 an image',
          '2K 0.105 + 0.085 an image -> 0.12 + 0.09 an image',
        ],
        members: ['pricing'],
      },
    ]);
  });

  it('An empty file is right, and so is a change of one member of ours', () => {
    expect(checked('{}')).toEqual({ models: {}, costs: [] });
    expect(problems({ models: { 'sandbox-pro': { name: 'Dear' } } })).toEqual([]);
  });

  it.each<[string[], unknown]>([
    [['The file is not JSON'], '{'],
    [['The file must be an object in { } with models, costs or both.'], []],
    [['model: is no member of the file; it has models and costs.'], { model: {} }],
    [['models: must be an object in { }, with the ids of models.'], { models: [] }],
    [['costs: must be a list in [ ].'], { costs: {} }],
    [['models.a: must be an object in { }, or null'], { models: { a: 'b' } }],
    [['models.nobody: there is no model'], { models: { nobody: null } }],
    [['models.my-flux.id: leave the member out'], withModel({ id: 'other' })],
    [['models: "__proto__" cannot be the id'], '{"models":{"__proto__":{"name":"x"}}}'],
    [['models: "My-Flux" cannot be the id of a model: must match'], withModel({}, 'My-Flux')],
    [
      [`models.my-flux.routes[0].provider: there is no provider "gpuu"; known are ${known}.`],
      withRoute({ provider: 'gpuu' }),
    ],
    [
      ['models.my-flux.pricing[0].usd: must be at least 0; it is -1.'],
      withModel({ pricing: [{ resolution: '1K', usd: -1, usd_per_input_image: 0 }] }),
    ],
    [['models.my-flux.price: is no field of the catalog'], withModel({ price: 1 })],
    [['models.my-flux.routes[0].size: is no field of the catalog'], withRoute({ size: 1 })],
    [['models.my-flux.name: must be text in quotes; it is 1.'], withModel({ name: 1 })],
    [
      ['models.sandbox-pro.routes: must be a list in [ ]; it is missing.'],
      { models: { 'sandbox-pro': { routes: null } } },
    ],
    [
      [
        'models.my-flux.name: must be text in quotes; it is missing. A model that is not one of ours must be whole.',
      ],
      withModel({ name: undefined }),
    ],
    [
      ['models.my-flux.default_resolution: no route renders the defaults 1K, 21:9 and png together.'],
      withModel({ default_aspect_ratio: '21:9' }),
    ],
    [
      ['models.my-flux.pricing[1].resolution: no route renders 2K.'],
      withModel({
        pricing: ['1K', '2K'].map((resolution) => ({ resolution, usd: 1, usd_per_input_image: 0 })),
      }),
    ],
    [
      ['models.my-flux.pricing[1].resolution: 1K has a price already.'],
      withModel({
        pricing: ['1K', '1K'].map((resolution) => ({ resolution, usd: 1, usd_per_input_image: 0 })),
      }),
    ],
    [
      ['models.my-flux.pricing: has no price for 2K, which a route renders.'],
      withRoute({ resolutions: ['1K', '2K'] }),
    ],
    [
      ['models.my-flux.max_prompt_length: no route takes a prompt of this length.'],
      withModel({ max_prompt_length: 5000 }),
    ],
    [
      ['models.my-flux.routes[0].source_limits: must be null exactly where max_image_urls is 0.'],
      withRoute({ source_limits: limits }),
    ],
    [
      ['models.my-flux.routes[0].max_image_urls: must be at most that of the model, which is 0.'],
      withRoute({ max_image_urls: 1, source_limits: limits }),
    ],
    [['models.my-flux.max_image_urls: no route takes more than 0.'], withModel({ max_image_urls: 2 })],
    [
      ['models.my-flux.routes[0].qualities: must be absent where quality is set.'],
      withRoute({ quality: 'low', qualities: ['low'] }),
    ],
    [
      ['models.my-flux.routes[1]: this route is there already.'],
      withModel({ routes: [0, 0].map((place) => example.models['qwen-image'].routes[place]) }),
    ],
    [
      ['models.my-flux.sunset_at: needs a deprecated_at at least 6 months before it'],
      withModel({ deprecated_at: '2026-01-01', sunset_at: '2026-02-01' }),
    ],
    [['models: quality_of must name a model'], { models: { 'sandbox-pro': { quality_of: 'gone' } } }],
    [
      [`costs[0].provider: there is no provider "gpuu"; known are ${known}.`],
      { costs: [{ ...example.costs[0], provider: 'gpuu' }] },
    ],
    [
      ['costs[0].checked_at: must be text in quotes; it is missing.'],
      { costs: [{ ...example.costs[0], checked_at: undefined }] },
    ],
  ])('A file is refused in a sentence that names the field: %j', (sentences, file) => {
    const found = problems(file);
    expect(found).toHaveLength(sentences.length);
    for (const [index, sentence] of sentences.entries()) expect(found[index]).toContain(sentence);
  });

  it('Every wrong field has a sentence, and a long value is cut', () => {
    const found = problems(withModel({ name: '', description: 7, default_resolution: 'x'.repeat(500) }));
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'models.my-flux.name',
      'models.my-flux.description',
      'models.my-flux.default_resolution',
    ]);
    expect(found.every((line) => line.length < 250)).toBe(true);
  });
});

describe('the margin rule', () => {
  it.each([
    ['nothing', 0, 0],
    ['one micro-dollar', 1, 5_000],
    ['a cost whose price is a half cent already', 75_000, 105_000],
    ['one micro-dollar more', 75_001, 110_000],
    ['a cost of many cents', 711_570, 1_000_000],
  ])('%s that costs %i is sold for at least %i', (_what, cost, least) => {
    expect(leastPriceMicros(asMicros(cost))).toBe(least);
  });
});
