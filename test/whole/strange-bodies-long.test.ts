/** Bodies that no client sends: 2,000 requests over the whole service. */
import { describe } from 'vitest';
import { answersStrangeBodies } from './strange-bodies.ts';

describe('many drawn bodies', () => {
  answersStrangeBodies(2_000, 2);
});
