import type { Asked } from './asked.ts';

/**
 * What a question to an account found:
 * - ok: there is nothing to do;
 * - note: nothing is wrong, but an operator should know;
 * - limits: the deployment works, with less than is wanted;
 * - stops: the deployment fails, or the deployed service does not work;
 * - unasked: the question could not be asked, so its answer is unknown.
 */
export type Level = 'ok' | 'note' | 'limits' | 'stops' | 'unasked';

export interface Finding {
  /** What was asked, such as "Lambda: concurrent executions". */
  readonly question: string;
  readonly level: Level;
  readonly found: string;
  readonly wanted: string;
  /** What an operator does about the finding. Absent: nothing. */
  readonly fix?: string;
}

export interface Question {
  readonly title: string;
  /** Throws CannotAsk when AWS gives no answer. */
  readonly ask: (asked: Asked) => Promise<readonly Finding[]>;
}

/** A figure of the account, compared with the least that is wanted. */
export function compared(question: string, found: number, wanted: number, fix: string): Finding {
  const enough = found >= wanted;
  return {
    question,
    level: enough ? 'ok' : 'limits',
    found: String(found),
    wanted: `at least ${wanted}`,
    ...(!enough && { fix }),
  };
}
