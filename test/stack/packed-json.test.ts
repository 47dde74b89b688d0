import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import fc from 'fast-check';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { packed, withPackedJson } from '../../lib/bundling/packed-json.ts';

const root = new URL('../../', import.meta.url).pathname;
const unpacked = (expression: string): unknown => JSON.parse(JSON.stringify(runInNewContext(expression)));

describe('the short form of a JSON file', () => {
  test.each(['service/catalog/models.json', 'service/catalog/provider-costs.json'])(
    '%s is unpacked to the same value, from a third of its bytes',
    (file) => {
      const json = readFileSync(`${root}${file}`, 'utf8');
      expect(unpacked(packed(json))).toEqual(JSON.parse(json));
      expect(Buffer.byteLength(packed(json))).toBeLessThan(JSON.stringify(JSON.parse(json)).length / 3);
    },
  );

  test('every JSON value comes back, or its text is refused', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', "'", '"', '\\', '\n', '9', ' ', '{', '`', 'é'),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(letters, fc.integer()), { maxLength: 8 }), (value) => {
        const text = JSON.stringify([value, value, value]);
        if (/[`é]/.test(text)) expect(() => packed(text)).toThrow('a packed file is ASCII');
        else expect(unpacked(packed(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 60 },
    );
  });

  test('a text with a character that stands for a rule is refused', () => {
    expect(() => packed('{"name":"50 ~ 60"}')).toThrow('a packed file is ASCII and has none of');
    expect(() => packed('{"name":"Ā"}')).toThrow('a packed file is ASCII');
  });

  test('the costs in a bundle have no sources, which no function reads', () => {
    const json = readFileSync(`${root}service/catalog/provider-costs.json`, 'utf8');
    const minified = transformSync(`x=${json}`, { minify: true, target: 'node24' })
      .code.trim()
      .replace(/;$/, '');
    const text = withPackedJson(minified, ['service/catalog/provider-costs.json'], root);
    const { costs } = unpacked(text.slice('x='.length)) as { costs: unknown[] };
    const all = JSON.parse(json) as { costs: { source?: string; checked_at?: string }[] };
    expect(costs).toEqual(all.costs.map(({ source: _source, checked_at: _day, ...rest }) => rest));
  });

  test('a bundle in which the file does not stand as a literal is refused', () => {
    expect(() => withPackedJson('var x={}', ['service/catalog/models.json'], root)).toThrow(
      'is not once in the bundle',
    );
    expect(withPackedJson('var x={}', ['service/catalog/catalog.ts'], root)).toBe('var x={}');
  });
});
