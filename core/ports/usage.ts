/** What an account used, read from its ledger and from the sums of days that are over. */
import type { Days } from '../booked-row.ts';
import type { CreationRecord } from '../creation.ts';
import type { AccountId } from '../ids.ts';
import type { UsageDay } from '../portal/day-sums.ts';
import type { UsageDimension } from '../usage.ts';

export interface UsageQuery extends Days {
  readonly by: UsageDimension;
  /** The first UTC day on which the account can have rows. */
  readonly since: string;
  readonly nowMillis: number;
}

export type TimedCreation = Pick<CreationRecord, 'status' | 'createdAt' | 'completedAt'>;

export interface UsageReads {
  /** Every day of the range. Throws Overloaded when the first sums take longer than a request may. */
  days(accountId: AccountId, query: UsageQuery): Promise<readonly UsageDay[]>;
  /** The newest creations of the range, at most so many. */
  newest(accountId: AccountId, range: Days, limit: number): Promise<readonly TimedCreation[]>;
}
