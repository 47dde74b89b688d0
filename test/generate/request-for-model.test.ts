import { describe, expect, it } from 'vitest';
import {
  forModel,
  type ImageRequest,
  type ImageRequestBody,
  imageRequestSchema,
  requestHash,
} from '../../service/creations/image-request.ts';
import { rendererOf, renderers } from '../../service/creations/machines.ts';
import { model, anyRoute, catalog, everything } from '../catalog/catalog-fixture.ts';
import { aCreation } from '../fixtures/records.ts';
import type { Model, Route } from '../../service/catalog/catalog-schema.ts';
import { chooseShape, enabledRoutes, priceOf, routesFor } from '../../service/catalog/catalog.ts';
import { aspectRatios, outputFormats, resolutions } from '../../service/contract/request-fields.ts';

const good = { model: 'sandbox-standard', prompt: 'a lake' };

function parse(body: object): ImageRequestBody {
  return imageRequestSchema.parse(body);
}

describe('a request for a model', () => {
  const [standard, sketch] = [model('sandbox-standard'), model('sandbox-sketch')];

  it('A request gets the defaults of the model for the fields that it leaves out', () => {
    expect(forModel(parse(good), standard, standard.routes)).toEqual({
      model: standard,
      prompt: 'a lake',
      resolution: '1K',
      aspectRatio: '1:1',
      isRatioNamed: false,
      outputFormat: 'png',
      imageUrls: [],
      maskUrl: undefined,
      webhookUrl: undefined,
      count: 1,
      seed: null,
      metadata: {},
    });
  });

  it('A request keeps the values that it names, also a seed of 0', () => {
    const body = {
      ...good,
      resolution: '2K',
      aspect_ratio: '3:2',
      output_format: 'jpeg',
      seed: 0,
      metadata: { a: 'b' },
      webhook_url: 'https://h.test',
    };
    expect(forModel(parse(body), standard, standard.routes)).toMatchObject({
      resolution: '2K',
      aspectRatio: '3:2',
      outputFormat: 'jpeg',
      seed: 0,
      metadata: { a: 'b' },
      webhookUrl: 'https://h.test',
    });
  });

  it('A request has a prompt of null when its prompt is blank and it has an image', () => {
    expect(
      forModel(parse({ model: 'm', prompt: ' ', image_urls: ['https://a.test'] }), standard, standard.routes),
    ).toMatchObject({ prompt: null });
  });

  it('A request may have the longest prompt and the most source images of its model', () => {
    const longest = parse({ model: 'm', prompt: 'x'.repeat(sketch.max_prompt_length) });
    expect(forModel(longest, sketch, sketch.routes)).toMatchObject({ prompt: longest.prompt });
    const most = parse({
      ...good,
      image_urls: Array<string>(standard.max_image_urls).fill('https://a.test'),
    });
    expect(forModel(most, standard, standard.routes)).toMatchObject({ imageUrls: most.image_urls });
  });

  it('A request is refused with every field that its model does not accept', () => {
    expect(
      forModel(
        parse({ model: 'm', prompt: 'x'.repeat(1001), image_urls: ['https://a.test'] }),
        sketch,
        sketch.routes,
      ),
    ).toEqual([
      { field: 'prompt', code: 'too_long', message: 'at most 1000 characters for sandbox-sketch' },
      { field: 'image_urls', code: 'too_many', message: 'sandbox-sketch takes no source images' },
    ]);
    expect(
      forModel(
        parse({ ...good, image_urls: Array<string>(5).fill('https://a.test') }),
        standard,
        standard.routes,
      ),
    ).toEqual([{ field: 'image_urls', code: 'too_many', message: 'sandbox-standard takes at most 4' }]);
  });

  it('A request is refused with the formats of its model when it names another format', () => {
    expect(forModel(parse({ ...good, output_format: 'webp' }), standard, standard.routes)).toEqual([
      {
        field: 'output_format',
        code: 'invalid_value',
        message: 'must be one of "png", "jpeg" for sandbox-standard',
      },
    ]);
  });
});

describe('a negative prompt', () => {
  const [standard, sketch, qwen] = [
    model('sandbox-standard'),
    model('sandbox-sketch'),
    model('qwen-image-3.0'),
  ];
  const asked = (of: Model, length: number, usable: readonly Model[] = catalog.models) =>
    forModel(parse({ ...good, negative_prompt: '🪶'.repeat(length) }), of, of.routes, () => usable);

  it('A model that takes one gets it as it was sent', () => {
    expect(asked(standard, 2_000)).toMatchObject({ negativePrompt: '🪶'.repeat(2_000) });
  });

  it('A request without one has no such member', () => {
    expect(Object.keys(forModel(parse(good), standard, standard.routes))).not.toContain('negativePrompt');
  });

  it('A model that takes none refuses it, and names models that the account can use', () => {
    expect(asked(sketch, 1, [sketch, standard, model('gpt-image-2'), qwen])).toEqual([
      {
        field: 'negative_prompt',
        code: 'unsupported_parameter',
        message: 'sandbox-sketch takes no negative prompt; models that do: sandbox-standard, qwen-image-3.0',
      },
    ]);
    expect(asked(sketch, 1, [sketch])).toMatchObject([
      { message: 'sandbox-sketch takes no negative prompt; no available model does' },
    ]);
  });

  it('A model refuses one that is longer than its vendor takes', () => {
    expect(asked(qwen, 500)).toMatchObject({ negativePrompt: expect.any(String) as string });
    expect(asked(qwen, 501)).toEqual([
      { field: 'negative_prompt', code: 'too_long', message: 'at most 500 characters for qwen-image-3.0' },
    ]);
  });

  it('Routes that cannot send it are left out, also where the defaults are chosen', () => {
    const route = anyRoute();
    const { max_negative_prompt_length: _most, ...deaf } = route;
    const able: Route = { ...route, provider_model: 'able', resolutions: ['2K'] };
    const of: Model = { ...model('sandbox-pro'), routes: [{ ...deaf, resolutions: ['1K'] }, able] };
    const body = { model: of.id, prompt: 'a lake' };
    expect(forModel(parse(body), of, of.routes)).toMatchObject({ resolution: '1K' });
    const request = forModel(parse({ ...body, negative_prompt: 'x' }), of, of.routes);
    expect(request).toMatchObject({ resolution: '2K' });
    const shape = { ...(request as ImageRequest), promptLength: 6, imageCount: 0 };
    expect(routesFor(of.routes, { ...shape, negativePromptLength: 1 })).toEqual([able]);
  });
});

describe('two requests under one Idempotency-Key', () => {
  const hash = (body: object): string => requestHash(parse(body));

  it('Two requests are the same when only the order of their fields differs', () => {
    expect(hash({ metadata: { b: '1', a: '2' }, prompt: 'a lake', model: 'm' })).toBe(
      hash({ model: 'm', prompt: ' a lake ', metadata: { a: '2', b: '1' } }),
    );
  });

  it.each<[string, object]>([
    ['prompt', { ...good, prompt: 'a pond' }],
    ['seed', { ...good, seed: 0 }],
    ['metadata', { ...good, metadata: { a: 'b' } }],
    ['order of images', { ...good, image_urls: ['https://b.test', 'https://a.test'] }],
  ])('Two requests differ when their %s differs', (_what, other) => {
    expect(hash(other)).not.toBe(
      hash({ ...good, ...('image_urls' in other && { image_urls: ['https://a.test', 'https://b.test'] }) }),
    );
  });

  it('Every release computes the hash of a request in the same way', () => {
    // printf '%s' '{"metadata":{"a":"2","b":"1"},"model":"m","prompt":"p"}' | sha256sum
    expect(hash({ prompt: 'p', model: 'm', metadata: { b: '1', a: '2' } })).toBe(
      'a5740647242c94a8482c739c8695e83daa9298fd33cc822de4d862f15f761906',
    );
  });
});

const source = { key: 'sources/a', width: 64, height: 64, contentType: 'image/png', bytes: 64 };

describe('the renderer of a creation', () => {
  it.each([
    ['1K', 0, 'small'],
    ['2K', 0, 'large'],
    ['4K', 0, 'large'],
    ['1K', 1, 'any'],
    ['4K', 10, 'any'],
  ] as const)(
    'A picture of %s from %i source images is rendered by the renderer "%s"',
    (resolution, count, renderer) => {
      const sources = Array.from({ length: count }, () => source);
      expect(rendererOf({ resolution, sources })).toBe(renderer);
    },
  );

  it('A creation keeps its renderer while it is rendered, so that a restart finds the same one', () => {
    const creation = aCreation({ resolution: '2K', sources: [] });
    const later = { ...creation, status: 'processing', executions: 3, attempts: [], recoveries: 2 } as const;
    expect(rendererOf(later)).toBe(rendererOf(creation));
  });

  it('The indexes keep their meaning, because executions of the last release still run', () => {
    expect(renderers).toEqual(['any', 'small', 'large']);
  });
});

describe('the shape of an image that a request leaves open', () => {
  const providersOf = ({ routes }: Model): string[] => [...new Set(routes.map(({ provider }) => provider))];
  /** Every subset of the names, from the empty one to all of them. */
  const subsets = (names: readonly string[]): string[][] =>
    names.reduce<string[][]>((sets, name) => [...sets, ...sets.map((set) => [...set, name])], [[]]);
  const cases = catalog.models.flatMap((known) =>
    subsets(providersOf(known)).map((names) => [known.id, names, known] as const),
  );
  const allowed = (known: Model, names: readonly string[]): readonly Route[] =>
    enabledRoutes(known, { ...everything, providers: names }, { enabledProviders: names });
  const canRender = (routes: readonly Route[], shape: ReturnType<typeof chooseShape>): boolean =>
    routesFor(routes, { ...shape, promptLength: 1, imageCount: 0 }).length > 0;

  it.each(cases)('The shape of %s over the providers %j has a route and a price', (_id, names, known) => {
    const routes = allowed(known, names);
    const shape = chooseShape(known, routes);
    expect(canRender(routes, shape)).toBe(routes.length > 0);
    expect(priceOf(known, shape.resolution, 0)).toBeGreaterThan(0);
  });

  it.each(cases)(
    'The shape of %s over the providers %j has a route beside every named value that a provider renders',
    (_id, names, known) => {
      const routes = allowed(known, names);
      const all = {
        resolution: [undefined, ...resolutions],
        aspectRatio: [undefined, ...aspectRatios],
        outputFormat: [undefined, ...outputFormats],
      };
      for (const resolution of all.resolution) {
        for (const aspectRatio of all.aspectRatio) {
          for (const outputFormat of all.outputFormat) {
            const named = { resolution, aspectRatio, outputFormat };
            const isPossible = routes.some(
              (route) =>
                (resolution === undefined || route.resolutions.includes(resolution)) &&
                (aspectRatio === undefined || route.aspect_ratios.includes(aspectRatio)) &&
                (outputFormat === undefined || route.output_formats.includes(outputFormat)),
            );
            const shape = chooseShape(known, routes, named);
            expect(shape).toMatchObject(
              Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
            );
            expect(canRender(routes, shape), JSON.stringify(named)).toBe(isPossible);
          }
        }
      }
    },
  );

  it('The shape is the default of the model when a route renders the default', () => {
    const pro = model('sandbox-pro');
    expect(chooseShape(pro, pro.routes)).toEqual({
      resolution: '1K',
      aspectRatio: '1:1',
      outputFormat: 'jpeg',
    });
    expect(chooseShape(pro, allowed(pro, ['sandbox-large']))).toEqual({
      resolution: '2K',
      aspectRatio: '1:1',
      outputFormat: 'jpeg',
    });
    expect(chooseShape(pro, pro.routes, { aspectRatio: '21:9' })).toEqual({
      resolution: '2K',
      aspectRatio: '21:9',
      outputFormat: 'jpeg',
    });
    expect(chooseShape(pro, [])).toEqual({ resolution: '1K', aspectRatio: '1:1', outputFormat: 'jpeg' });
  });

  it('One route renders the whole shape', () => {
    const only = (resolution: '1K' | '2K' | '4K', ratio: '1:1' | '3:2', format: 'png' | 'webp'): Route => ({
      ...anyRoute(),
      resolutions: [resolution],
      aspect_ratios: [ratio],
      output_formats: [format],
    });
    const known: Model = { ...model('sandbox-pro'), default_output_format: 'png' };
    const routes = [only('4K', '1:1', 'png'), only('2K', '3:2', 'webp')];
    expect(chooseShape(known, routes)).toEqual({
      resolution: '2K',
      aspectRatio: '3:2',
      outputFormat: 'webp',
    });
    expect(chooseShape(known, routes, { outputFormat: 'png' })).toEqual({
      resolution: '4K',
      aspectRatio: '1:1',
      outputFormat: 'png',
    });
  });

  it('The shape never has a resolution without a price', () => {
    const pro = model('sandbox-pro');
    const known: Model = { ...pro, pricing: pro.pricing.filter(({ resolution }) => resolution === '4K') };
    expect(chooseShape(known, pro.routes).resolution).toBe('4K');
  });
});
