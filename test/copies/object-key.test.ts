import { expect, it } from 'vitest';
import { objectKey } from '../../service/creations/copy-items.ts';
import { creationId } from '../fixtures/records.ts';

it.each([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/webp', 'webp'],
  ['image/new', 'bin'],
])('The copy of a picture of the type %s ends with .%s', (contentType, ending) => {
  expect(objectKey('pictures/', creationId, { contentType })).toBe(`pictures/${creationId}.${ending}`);
});
