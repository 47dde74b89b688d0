import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Job, Message, Report } from '../../../lab/simulation/messages.ts';

/**
 * Runs seeds with a planted bug until one fails, and returns the shrunk failure. It uses a process of its
 * own, because a bug can only be planted while Node loads the product.
 */
function failureOf(mutant: string): Promise<Report> {
  const job: Job = { kind: 'seeds', from: 0, to: 1_000, every: 1, stopAtFirst: true, mutant };
  const child = fork(
    fileURLToPath(new URL('../../../lab/simulation/worker.ts', import.meta.url)),
    [JSON.stringify(job)],
    {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    },
  );
  return new Promise((resolve, reject) => {
    child.on('message', (message: Message) => {
      if (message.kind === 'failed') resolve(message.report);
    });
    child.on('exit', () => reject(new Error(`no seed caught ${mutant}`)));
  });
}

describe('Shrinking a failed run', { timeout: 60_000 }, () => {
  it('Shrinking keeps only the steps and faults that break the same invariant', async () => {
    const { found, steps, faults, violation, tail } = await failureOf('completion-keeps-the-room');
    expect(violation.invariant).toBe('in flight is what is open');
    // A single request that completes is enough to break the invariant.
    expect(steps).toHaveLength(1);
    expect(JSON.parse(steps[0] ?? '')).toMatchObject({ kind: 'submit' });
    expect(faults).toEqual([]);
    expect(found.steps).toBeGreaterThan(steps.length);
    expect(tail.join()).toContain('VIOLATION in flight is what is open');
  });
});
