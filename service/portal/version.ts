/**
 * The version of something that people edit: a hash of the values that they can change. The page sends it back
 * with a change, so that no one overwrites another person's change.
 */
import type { Account } from '../accounts/account.ts';
import { versionOf } from '../accounts/version.ts';
import { limitRanges } from '../contract/limits.ts';
import type { Member } from './people.ts';

/** Of an account, as the operator edits it. */
export function accountVersion({ name, condition, creditLineMicros, limits }: Account): string {
  const names = Object.keys(limitRanges) as (keyof typeof limitRanges)[];
  return versionOf([name, condition, creditLineMicros, ...names.map((one) => limits[one])]);
}

/** Of a person in an account. */
export function memberVersion(member: Pick<Member, 'role' | 'keyCapMicros'>): string {
  return versionOf([member.role, member.keyCapMicros]);
}
