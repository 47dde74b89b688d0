/**
 * What a prompt can ask of the sandbox, so that a client's own tests can reach every
 * outcome: [sandbox:delay=3s] and the like, any number of them, anywhere in the prompt.
 */

const outcomes = ['reject-prompt', 'reject-image', 'fail', 'empty', 'hang', 'down', 'crash'] as const;
export type SandboxOutcome = (typeof outcomes)[number];

export interface Directives {
  readonly outcome?: SandboxOutcome;
  readonly delayMillis: number;
  /** Answers with a job to poll, done after so many milliseconds. */
  readonly asyncMillis?: number;
}

const form = /\[sandbox:([a-z-]+)(?:=([^\]]*))?\]/g;
const duration = /^(\d+(?:\.\d+)?)(ms|s|m)?$/;
const unitMillis = { ms: 1, s: 1000, m: 60_000 } as const;

function millisOf(text: string | undefined): number {
  const match = duration.exec(text?.trim() ?? '');
  if (!match) return 0;
  return Number(match[1]) * unitMillis[(match[2] ?? 's') as keyof typeof unitMillis];
}

/**
 * The directives of a prompt for one provider. An outcome may name the provider that it
 * is for: [sandbox:down=sandbox] leaves sandbox-large standing, which shows the fallback.
 * What is unknown is ignored, as any other text of a prompt.
 */
export function directivesOf(prompt: string | null, provider: string): Directives {
  let found: Directives = { delayMillis: 0 };
  for (const [, name, value] of (prompt ?? '').matchAll(form)) {
    const outcome = outcomes.find((known) => known === name);
    if (outcome && (value === undefined || value === provider)) found = { ...found, outcome };
    if (name === 'delay') found = { ...found, delayMillis: millisOf(value) };
    if (name === 'async') found = { ...found, asyncMillis: millisOf(value) };
  }
  return found;
}
