/** The parts of a refusal that programs read. */
import { onTestFinished } from 'vitest';
import type { Answer, TestService } from '../fixtures/service.ts';

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Throws when the answer is not an error in the envelope. */
export function refusalOf(answer: Answer): Refusal {
  const { error } = answer.body as { error?: { code: string; details: Record<string, unknown> } };
  if (!error) throw new Error(`no refusal: ${answer.status} ${answer.text}`);
  return { status: answer.status, code: error.code, details: error.details };
}

/** "field: code" of each item of details.errors, in their order. */
export function fieldsOf(answer: Answer): string[] {
  const { details } = refusalOf(answer);
  return (details['errors'] as { field: string; code: string }[]).map(
    ({ field, code }) => `${field}: ${code}`,
  );
}

/**
 * Stops the clock until an advance or the end of the test, so that all requests of the test count in one
 * window of a rate.
 */
export function withinOneMinute({ machine }: TestService): void {
  machine.clock.freeze();
  onTestFinished(() => {
    machine.clock.thaw();
  });
}
