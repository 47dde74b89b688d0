import { describe, expect, it } from 'vitest';
import { fieldErrors } from '../../core/field-errors.ts';
import { imageRequestSchema, type ImageRequestBody } from '../../core/image-request.ts';

function parse(body: object): ImageRequestBody {
  return imageRequestSchema.parse(body);
}

function problems(body: unknown): string[] {
  const result = imageRequestSchema.safeParse(body, { reportInput: true });
  return result.success
    ? []
    : fieldErrors(result.error.issues).map(({ field, code, message }) => `${field} ${code}: ${message}`);
}

describe('the body of a request', () => {
  it('The lengths of a body are counted in code points, so that an emoji is one character', () => {
    const emoji = {
      model: 'm',
      prompt: '😀'.repeat(10_000),
      image_urls: [`https://a.test/${'😀'.repeat(2_033)}`],
      webhook_url: `https://a.test/${'😀'.repeat(2_033)}`,
      metadata: { ['😀'.repeat(40)]: '😀'.repeat(500) },
    };
    expect(parse(emoji)).toEqual(emoji);
  });

  it.each(['__proto__', 'constructor'])('A body with a field named %s is refused', (name) => {
    const body = JSON.parse(`{"model":"m","prompt":"p","${name}":"x"}`) as object;
    expect(problems(body)).toEqual([`${name} unknown_field: not a field of this request`]);
  });

  it('A body with an object under the metadata key __proto__ is refused', () => {
    const body = JSON.parse('{"model":"m","prompt":"p","metadata":{"__proto__":{"a":"b"}}}') as object;
    expect(problems(body)).toEqual(['metadata.__proto__ invalid_type: must be a string']);
  });
});
