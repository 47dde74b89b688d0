import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { AuthFailureForm } from '../core/contract.ts';

/** What an operator can choose. All of it has a default: `cdk deploy` without settings works. */
export interface Settings {
  /** Days for which results can be fetched. */
  readonly resultDays: number;
  readonly logRetention: RetentionDays;
  /** The form of a failed authentication (interface.md, part 5). */
  readonly authFailureForm: AuthFailureForm;
  /** Where a client can top up its wallet, named in 402 answers; empty: /portal/wallet under the API's own domain. */
  readonly topUpUrl: string;
}

export const defaultSettings: Settings = {
  resultDays: 30,
  logRetention: RetentionDays.ONE_MONTH,
  authFailureForm: 'envelope',
  topUpUrl: '',
};
