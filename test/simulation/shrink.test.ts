import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Job, Message, Report } from '../../simulation/messages.ts';

/** The first failure of a planted bug, found by seeds and shrunk, in a process of its own: a bug is planted as its module is loaded. */
function failureOf(mutant: string): Promise<Report> {
  const job: Job = { kind: 'seeds', from: 0, to: 1_000, every: 1, stopAtFirst: true, mutant };
  const child = fork(
    fileURLToPath(new URL('../../simulation/worker.ts', import.meta.url)),
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

describe('a failing run', { timeout: 60_000 }, () => {
  it('is shrunk to fewer steps and faults, which still break the same invariant', async () => {
    const { found, steps, faults, violation, tail } = await failureOf('completion-keeps-the-room');
    expect(violation.invariant).toBe('in flight is what is open');
    // One request that completes is all that it takes.
    expect(steps).toHaveLength(1);
    expect(JSON.parse(steps[0] ?? '')).toMatchObject({ kind: 'submit' });
    expect(faults).toEqual([]);
    expect(found.steps).toBeGreaterThan(steps.length);
    expect(tail.join()).toContain('VIOLATION in flight is what is open');
  });
});
