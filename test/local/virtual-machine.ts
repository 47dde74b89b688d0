/** What the tests of the definitions share: the text of the plain machine, and virtual time. */
import { readFileSync } from 'node:fs';
import * as FakeTimers from '@sinonjs/fake-timers';
import { afterEach, beforeEach } from 'vitest';
import type { InvocationResult } from '../../local/lambda/messages.ts';

export const plainDefinition = readFileSync(
  new URL('../../statemachines/creation.asl.json', import.meta.url),
  'utf8',
);

/** The definition with the ARN of a function in the place of each substitution. */
export function withArns(definition: string): string {
  return definition.replace(
    /\$\{(\w+)Arn\}/g,
    (_, name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
  );
}

/** Virtual time for each test of the file. Call the result for the clock of the running test. */
export function virtualTime(): () => ReturnType<typeof FakeTimers.install> {
  let clock: ReturnType<typeof FakeTimers.install>;
  beforeEach(() => {
    clock = FakeTimers.install({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    clock.uninstall();
  });
  return () => clock;
}

/** The answer of a function that throws this error. */
export function thrown(errorType: string): InvocationResult {
  return { ok: false, error: { errorType, errorMessage: 'why' } };
}
