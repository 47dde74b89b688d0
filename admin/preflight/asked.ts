import type { Settings } from '../../lib/settings.ts';
import type { Clients } from './clients.ts';
import type { Traffic } from './quotas/quotas.ts';
import type { QuotaReader } from './service-quotas.ts';

/** The stack of the stage, as CloudFormation knows it. */
export interface StackState {
  /** Undefined: there is no such stack. */
  readonly status: string | undefined;
  readonly outputs: ReadonlyMap<string, string>;
}

/** What every question may use: the account, the planned deployment, and the clients. */
export interface Asked {
  readonly account: string;
  readonly region: string;
  /** The ARN of the caller. */
  readonly caller: string;
  readonly settings: Settings;
  /** The traffic that the deployment is to take. */
  readonly traffic: Traffic;
  /** The operator continues without anybody who gets the alarms. */
  readonly withoutAlarms: boolean;
  readonly stackName: string;
  /** Throws CannotAsk. */
  readonly stack: () => Promise<StackState>;
  readonly clients: Clients;
  readonly quotas: QuotaReader;
  /** The models of Amazon Bedrock that the catalog has. */
  readonly bedrockModels: readonly string[];
  /** The names to which DNS sends a host name (CNAME). Empty: it has none. Undefined: the name does not exist. */
  readonly aliasesOf: (host: string) => Promise<readonly string[] | undefined>;
  /** The present time. */
  readonly now: () => Date;
}

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

/** What to do about a quota of a service that is too low. */
export function raise(service: string): string {
  return `ask AWS for more (Service Quotas, ${service})`;
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
