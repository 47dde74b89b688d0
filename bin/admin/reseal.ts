/** Webhook secrets after a rotation of the encryption secret: sealed anew by its current version, account by account. */
import type { Account, SealedSecret } from '../../core/account.ts';
import { replacedSecretSeconds } from '../../core/webhook.ts';
import type { OperatorServices } from './services.ts';

export interface ResealReport {
  readonly accounts: number;
  /** Secrets that were sealed by an older version. */
  readonly resealed: number;
  readonly alreadyCurrent: number;
  /** Replaced more than 24 h ago: nothing is signed with them any more. */
  readonly dropped: number;
  /** Accounts of which a secret cannot be opened: its version of the encryption secret is gone. */
  readonly lost: readonly string[];
  /** Accounts whose secrets kept changing meanwhile: run it again. */
  readonly busy: readonly string[];
}

type Outcome = { readonly kind: 'done'; readonly resealed: number; readonly alreadyCurrent: number; readonly dropped: number } | { readonly kind: 'lost' | 'busy' };

/** A rotation of the same account at the same moment is rare; three in a row are not awaited. */
const tries = 3;

/** Safe to run at any time, and again: what is sealed by the current version stays as it is. */
export async function resealSecrets(services: OperatorServices): Promise<ResealReport> {
  const outcomes: [string, Outcome][] = [];
  for (const account of await services.accounts.list()) outcomes.push([account.id, await resealAccount(account, services)]);
  const done = outcomes.flatMap(([, outcome]) => (outcome.kind === 'done' ? [outcome] : []));
  const sum = (count: 'resealed' | 'alreadyCurrent' | 'dropped'): number => done.reduce((total, outcome) => total + outcome[count], 0);
  const named = (kind: Outcome['kind']): string[] => outcomes.filter(([, outcome]) => outcome.kind === kind).map(([id]) => id);
  return { accounts: outcomes.length, resealed: sum('resealed'), alreadyCurrent: sum('alreadyCurrent'), dropped: sum('dropped'), lost: named('lost'), busy: named('busy') };
}

async function resealAccount(account: Account, services: OperatorServices, attempt = 1): Promise<Outcome> {
  const oldest = services.clock.now() - replacedSecretSeconds * 1000;
  const valid = account.webhookSecrets.filter(({ replacedAt }) => replacedAt === undefined || replacedAt > oldest);
  const next: SealedSecret[] = [];
  for (const secret of valid) {
    const outcome = await services.secretBox.reseal(account.id, secret.sealed);
    // As it is, the account says at least which secret it was.
    if (outcome.kind === 'lost') return { kind: 'lost' };
    next.push(outcome.kind === 'resealed' ? { ...secret, sealed: outcome.sealed } : secret);
  }
  const resealed = next.filter((secret, index) => secret !== valid[index]).length;
  const dropped = account.webhookSecrets.length - valid.length;
  const outcome = { kind: 'done', resealed, alreadyCurrent: valid.length - resealed, dropped } as const;
  if (resealed + dropped === 0 || (await services.accounts.replaceSecrets(account.id, account.webhookSecrets[0], next))) return outcome;
  const changed = attempt < tries ? await services.accounts.read(account.id) : undefined;
  return changed ? resealAccount(changed, services, attempt + 1) : { kind: 'busy' };
}
