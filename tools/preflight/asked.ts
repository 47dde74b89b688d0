import type { Settings } from '../../lib/settings.ts';
import type { Traffic } from '../quotas/quotas.ts';
import type { Clients } from './clients.ts';
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
