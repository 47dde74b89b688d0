/**
 * Directives such as [sandbox:delay=3s] in a prompt. With them a client's own tests reach every outcome. A
 * prompt may hold any number of directives, anywhere.
 */
import { directiveForm } from '../../catalog/sandbox.ts';

const outcomes = ['reject-prompt', 'reject-image', 'fail', 'empty', 'hang', 'down', 'crash'] as const;
export type SandboxOutcome = (typeof outcomes)[number];

export interface Directives {
  readonly outcome?: SandboxOutcome;
  readonly delayMillis: number;
  /** The sandbox answers with a job to poll, which ends after this many milliseconds. */
  readonly asyncMillis?: number;
}

const duration = /^(\d+(?:\.\d+)?)(ms|s|m)?$/;
const unitMillis = { ms: 1, s: 1000, m: 60_000 } as const;

function millisOf(text: string | undefined): number {
  const match = duration.exec(text?.trim() ?? '');
  if (!match) return 0;
  return Number(match[1]) * unitMillis[(match[2] ?? 's') as keyof typeof unitMillis];
}

/**
 * The directives of a prompt for one provider. An outcome may name its provider: [sandbox:down=sandbox] does
 * not concern sandbox-large, so that the fallback can be tested. Unknown directives are ignored.
 */
export function directivesOf(prompt: string | null, provider: string): Directives {
  let found: Directives = { delayMillis: 0 };
  for (const [, name, value] of (prompt ?? '').matchAll(directiveForm)) {
    const outcome = outcomes.find((known) => known === name);
    if (outcome && (value === undefined || value === provider)) found = { ...found, outcome };
    if (name === 'delay') found = { ...found, delayMillis: millisOf(value) };
    if (name === 'async') found = { ...found, asyncMillis: millisOf(value) };
  }
  return found;
}
