import { describe, expect, it } from 'vitest';
import { createProgress } from '../../admin/progress.ts';

describe('the progress of a long command', () => {
  it('A line is told after two seconds, and then at most every two seconds', () => {
    let elapsed = 100;
    const told: string[] = [];
    const progress = createProgress({ elapsed: () => elapsed }, (line) => told.push(line));
    for (const millis of [100, 2_099, 2_100, 2_101, 4_099, 4_100]) {
      elapsed = millis;
      progress(() => `at ${millis}`);
    }
    expect(told).toEqual(['at 2100', 'at 4100']);
  });
});
