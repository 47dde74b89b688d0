/**
 * The schema of an image request refuses nothing that the API accepts. What it cannot refuse is listed here.
 * Every accepted request of the other tests is checked as well (test/fixtures/service.ts).
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { aspectRatios, outputFormats, resolutions } from '../../service/contract/request-fields.ts';
import { imageRequestSchema, missingPrompt, plainSchema } from '../../service/creations/image-request.ts';
import written from '../../docs/openapi.json' with { type: 'json' };
import { refusedByDocument } from '../../service/document/check/refused-by-document.ts';
import { plainBodies, right } from '../fixtures/plain-bodies.ts';
import { acceptedBodies, refusedBodies } from '../whole/request-bodies.ts';
import { operations } from '../../service/contract/operations.ts';
import { documentPath, operatorDocumentPath } from '../../service/document/document-path.ts';
import { documentText } from '../../service/document/document.ts';
import { plainSchema as documented } from '../../service/document/schemas/values.ts';

function findings(body: object): string[] {
  const path = '/api/public/v1/images/quote';
  return refusedByDocument({ method: 'POST', path, headers: {}, text: JSON.stringify(body) });
}

/** Rules that no schema can say, with the bodies of test/whole/request-bodies.ts that break only such rules. */
const unsayable: Readonly<Record<string, readonly string[]>> = {
  'a length counts after the spaces around are removed': ['prompt of 10,001 characters'],
  'the model sets narrower limits': [
    'prompt longer than the model takes',
    'more image_urls than the model takes',
    'image_urls for a model that takes none',
    'an output_format that the model has not',
    'a negative_prompt for a model that takes none',
    'a quality that the model has not',
    'a transparent background as jpeg',
    'a transparent background for a model that renders none',
    'a mask for a model that takes none',
  ],
  'text is well-formed': [
    'a user with half of a surrogate pair',
    'half a surrogate pair in the prompt',
    'half a surrogate pair in the negative_prompt',
    'half a surrogate pair in a metadata key',
    'half a surrogate pair in a metadata value',
  ],
  'a mask belongs to a source image': ['a mask without a source image'],
  'an amount has at most six decimals': ['a max_cost of 7 decimals'],
  'the service may call the address': [
    'an image url of another scheme',
    'an image url with a user name',
    'an image url of a private address',
    'a mask at a private address',
    'a mask that is a malformed upload',
    'a webhook_url that is no address',
    'a webhook_url with a password',
  ],
};

describe('the schema of an image request', () => {
  it('The document has every field of the request, each with a description', () => {
    const { properties } = written.components.schemas.ImageRequest;
    expect(Object.keys(properties).sort()).toEqual(Object.keys(imageRequestSchema._zod.def.in.shape).sort());
    expect(Object.values(properties).filter(({ description }) => description.length < 10)).toEqual([]);
  });

  it.each(acceptedBodies)('The schema accepts, as the API does: %s', (_what, body) => {
    expect(findings(body)).toEqual([]);
  });

  it('The schema refuses what the API refuses, but for the rules that it cannot say', () => {
    const taken = refusedBodies.filter(([, body]) => findings(body).length === 0).map(([what]) => what);
    expect(taken.toSorted()).toEqual(Object.values(unsayable).flat().toSorted());
  });

  it('The schema accepts every body at random that the API accepts', () => {
    // An address that is empty passes service/creations/image-request.ts and fails service/outbound/client-url.ts.
    const text = (most: number, least = 0) =>
      fc.string({ unit: 'binary', minLength: least, maxLength: most });
    const body = fc.record(
      {
        model: text(3),
        prompt: fc.option(text(5)),
        resolution: fc.constantFrom(...resolutions, '8K', null),
        aspect_ratio: fc.constantFrom(...aspectRatios, '1:2', null),
        output_format: fc.constantFrom(...outputFormats, 'gif', null),
        image_urls: fc.option(fc.array(text(20, 1), { maxLength: 12 })),
        webhook_url: fc.option(text(20, 1)),
        ...plainBodies((field) =>
          fc.oneof(
            // Nearly every field is right, so that enough bodies are, however many rows the table has.
            { weight: 30, arbitrary: right(field) },
            fc.integer(),
            fc.double(),
            text(5),
            fc.constant(null),
          ),
        ),
        metadata: fc.option(fc.dictionary(text(45), text(8), { maxKeys: 18 })),
        user: fc.option(text(70)),
        max_cost: fc.option(
          fc.oneof(
            fc.double(),
            fc.nat().map((micros) => micros / 1_000_000),
          ),
        ),
      },
      { requiredKeys: ['model'] },
    );
    let accepted = 0;
    fc.assert(
      fc.property(body, (drawn) => {
        const sent = JSON.parse(JSON.stringify(drawn)) as object;
        const { data } = imageRequestSchema.safeParse(sent);
        if (!data || missingPrompt(data)) return;
        accepted += 1;
        expect(findings(sent)).toEqual([]);
      }),
      { numRuns: 1_500, seed: 7 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});

const textAt = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const text = textAt(documentPath);

/** The findings that stand, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  '#/components/schemas/Problem':
    'Every response names its own refusals. The union of all of them is a type for clients.',
  '#/components/responses/UnknownRoute': 'No path can have the answer to unknown paths.',
};

async function redoclyFindings(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: documentPath, config });
  return problems
    .filter(({ location }) => !location.some(({ pointer = '' }) => pointer in exceptions))
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
}

const schemaWords = z
  .looseObject({ type: z.unknown(), format: z.unknown(), pattern: z.unknown(), enum: z.array(z.unknown()) })
  .partial();

/** What the generators of clients and Spectral do not take (docs/measurements/unmodified-clients.md). */
function unreadable(value: unknown, place = '#', beside: readonly object[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, format, pattern, ...words } = schemaWords.safeParse(value).data ?? {};
  return [
    ...(type === 'null' && !beside.some((one) => '$ref' in one) ? [`${place}: null alone`] : []),
    ...(typeof format === 'string' && typeof pattern === 'string' ? [`${place}: format and pattern`] : []),
    ...(type === 'array' && !('items' in words) ? [`${place}: no items`] : []),
    ...(Array.isArray(type) && type.filter((one) => one !== 'null').length > 1
      ? [`${place}: several types`]
      : []),
    ...(/[^ -~]/.test(words.enum?.join('') ?? '') && !('x-enum-varnames' in words)
      ? [`${place}: no names`]
      : []),
    ...Object.entries(value).flatMap(([name, member]) =>
      unreadable(member, `${place}/${name}`, Array.isArray(value) ? value : []),
    ),
  ];
}

describe('a plain field', () => {
  it.each([
    [{ kind: 'integer', least: 0, most: 9 }, [0, 9], [-1, 10, 1.5, '1']],
    [{ kind: 'text', least: 0, most: 4, isPrivate: false }, ['', 'four'], ['fives', 4, true]],
    [{ kind: 'text', least: 1, most: 4, isPrivate: true }, ['a', 'four'], ['', 'fives', 4, true]],
    [{ kind: 'choice', values: ['vivid', 'natural'] }, ['vivid', 'natural'], ['', 'Vivid', 1]],
  ] as const)('The parser and the document accept and refuse the same values of %j', (field, good, bad) => {
    for (const schema of [plainSchema(field), documented(field)]) {
      expect(good.filter((value) => !z.safeParse(schema, value).success)).toEqual([]);
      expect(bad.filter((value) => z.safeParse(schema, value).success)).toEqual([]);
    }
  });
});

describe('docs/operator-openapi.json', () => {
  const operatorText = textAt(operatorDocumentPath);

  it('The recommended rules of Redocly find nothing', async () => {
    expect(await redoclyFindings(operatorText)).toEqual([]);
  });

  it('Generators of clients can read every schema', () => {
    expect(unreadable(JSON.parse(operatorText))).toEqual([]);
  });
});

describe('docs/openapi.json', () => {
  it('The file is current; npm run openapi writes it', () => {
    expect(text === documentText(), 'run npm run openapi').toBe(true);
  });

  it('The recommended rules of Redocly find nothing but the named exceptions', async () => {
    expect(await redoclyFindings(text)).toEqual([]);
    expect(
      await redoclyFindings(text.replace('"operationId": "listModels"', '"operationId": "list models"')),
    ).toEqual([expect.stringContaining('operation-operationId-url-safe')]);
  });

  it('Generators of clients can read every schema, and every choice has a name that a program can have', () => {
    expect(unreadable(JSON.parse(text))).toEqual([]);
    const wrong = { a: { type: 'null' }, if: { anyOf: [{ type: 'null' }, { type: 'array' }] } };
    const texts = { b: { format: 'uuid', pattern: '^.$' }, c: { enum: ['wait — see'] } };
    const several = { d: { type: ['string', 'null'] }, e: { type: ['number', 'string', 'null'] } };
    expect(unreadable({ ...wrong, ...texts, ...several })).toEqual([
      '#/a: null alone',
      '#/if/anyOf/0: null alone',
      '#/if/anyOf/1: no items',
      '#/b: format and pattern',
      '#/c: no names',
      '#/e: several types',
    ]);
  });

  it('The file has every operation of the contract, with its method and its path', () => {
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> };
    const stated = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]),
    );
    const contract = Object.entries(operations).map(([name, { method, path }]) => [
      name,
      `${method} ${path}`,
    ]);
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(contract));
  });
});
