import { expect, it } from 'vitest';
import { uploadSchema } from '../../service/uploads/upload.ts';

it('An upload has a whole number of bytes, at least one and at most 10 MB', () => {
  const isTaken = (bytes: number): boolean =>
    uploadSchema.safeParse({ content_type: 'image/png', bytes }).success;
  expect([1, 10_000_000].map(isTaken)).toEqual([true, true]);
  expect([0, 1.5, 10_000_001].map(isTaken)).toEqual([false, false, false]);
});
