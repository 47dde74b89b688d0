/**
 * After a rotation of the encryption secret, seals the webhook secrets and the bucket's keys of every account with its
 * current version.
 */
import type { Account, SealedSecret } from '../service/accounts/account.ts';
import { secretsAt } from '../service/webhooks/secrets.ts';
import type { OperatorServices } from './services.ts';

export interface ResealReport {
  readonly accounts: number;
  /** The number of secrets that an older version had sealed. */
  readonly resealed: number;
  readonly alreadyCurrent: number;
  /** The number of removed secrets that were replaced more than 24 h ago and sign nothing any more. */
  readonly dropped: number;
  /** The accounts whose current secret can no longer be opened. This secret stays as it is. */
  readonly lost: readonly string[];
  /** The accounts of which a replaced secret could no longer be opened. This secret was removed. */
  readonly lostReplaced: readonly string[];
  /** The accounts of which the keys of the bucket can no longer be opened. They stay as they are. */
  readonly lostBuckets: readonly string[];
  /** The accounts whose secrets changed at the same time. They need another run. */
  readonly busy: readonly string[];
}

interface Counts {
  readonly resealed: number;
  readonly alreadyCurrent: number;
  readonly dropped: number;
}

interface Done extends Counts {
  readonly kind: 'done';
  readonly isLost: boolean;
  readonly isReplacedLost: boolean;
  readonly isBucketLost?: true;
}

type Outcome = Done | { readonly kind: 'busy' };

/**
 * Another rotation of the same account at the same moment is rare. After three of them, the account counts as busy.
 */
const tries = 3;

/** Safe to run at any time and to repeat: a secret that the current version has sealed stays as it is. */
export async function resealSecrets(services: OperatorServices): Promise<ResealReport> {
  const outcomes: [string, Outcome][] = [];
  for await (const page of services.accounts.pages())
    for (const account of page) outcomes.push([account.id, await resealAll(account, services)]);
  const done = outcomes.flatMap(([id, outcome]) => (outcome.kind === 'done' ? [{ id, ...outcome }] : []));
  const sum = (count: keyof Counts): number => done.reduce((total, outcome) => total + outcome[count], 0);
  return {
    accounts: outcomes.length,
    resealed: sum('resealed'),
    alreadyCurrent: sum('alreadyCurrent'),
    dropped: sum('dropped'),
    lost: done.filter(({ isLost }) => isLost).map(({ id }) => id),
    lostReplaced: done.filter(({ isReplacedLost }) => isReplacedLost).map(({ id }) => id),
    lostBuckets: done.filter(({ isBucketLost }) => isBucketLost).map(({ id }) => id),
    busy: outcomes.filter(([, { kind }]) => kind === 'busy').map(([id]) => id),
  };
}

async function resealAll(account: Account, services: OperatorServices): Promise<Outcome> {
  const outcome = await resealAccount(account, services);
  const bucket = account.copies && (await services.buckets.read(account.id));
  if (!bucket || outcome.kind === 'busy') return outcome;
  const sealed = await services.secretBox.reseal(account.id, bucket.sealedKeys);
  switch (sealed.kind) {
    case 'lost':
      return { ...outcome, isBucketLost: true };
    case 'already_current':
      return { ...outcome, alreadyCurrent: outcome.alreadyCurrent + 1 };
    case 'resealed':
      return (await services.buckets.reseal(account.id, bucket, sealed.sealed))
        ? { ...outcome, resealed: outcome.resealed + 1 }
        : { kind: 'busy' };
  }
}

async function resealAccount(account: Account, services: OperatorServices, attempt = 1): Promise<Outcome> {
  const { signing, pending, replaced, over } = secretsAt(account.webhookSecrets, services.clock.now());
  const live = [...pending, ...(signing ? [signing] : []), ...replaced];
  const results = await Promise.all(
    live.map(async (secret) => ({
      secret,
      result: await services.secretBox.reseal(account.id, secret.sealed),
    })),
  );
  const isLost = results.some(({ secret, result }) => result.kind === 'lost' && !replaced.includes(secret));
  const isReplacedLost = results.some(
    ({ secret, result }) => result.kind === 'lost' && replaced.includes(secret),
  );
  // A lost signing secret can mean that the whole encryption secret is missing. Then no secret is removed.
  const kept = results.filter(
    ({ secret, result }) => isLost || result.kind !== 'lost' || !replaced.includes(secret),
  );
  const next = kept.map(({ secret, result }): SealedSecret =>
    result.kind === 'resealed' ? { ...secret, sealed: result.sealed } : secret,
  );
  const count = (kind: string): number => results.filter(({ result }) => result.kind === kind).length;
  const outcome = {
    kind: 'done',
    resealed: count('resealed'),
    alreadyCurrent: count('already_current'),
    dropped: over.length,
    isLost,
    isReplacedLost,
  } as const;
  const isChanged = outcome.resealed + over.length > 0 || kept.length < results.length;
  if (!isChanged || (await services.accounts.replaceSecrets(account.id, account.webhookSecrets[0], next)))
    return outcome;
  const changed = attempt < tries ? await services.accounts.read(account.id) : undefined;
  return changed ? resealAccount(changed, services, attempt + 1) : { kind: 'busy' };
}
