/** What an operator does with an account. The command and the operator's pages of the portal share these rules. */
import type { Account } from '../accounts/account.ts';
import type { CreditLineOutcome, MovementOutcome, WalletStore } from '../accounts/wallet-store.ts';
import type { AccountLimits } from '../contract/limits.ts';
import { type AccountId, parseAccountId, randomBase62 } from '../values/ids.ts';
import { asMicros, largestAvailableMicros, type Micros } from '../values/money.ts';
import { lookAfterCommand, type LookServices } from './check-thresholds.ts';

export const openingReference = 'opening balance';

export interface OpeningServices extends LookServices {
  readonly wallet: WalletStore;
  readonly accounts: { create(account: Account): Promise<boolean> };
}

export interface OpenedAccount {
  readonly name: string;
  readonly limits: AccountLimits;
  readonly balanceMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly sandbox?: true;
}

export type OpeningOutcome =
  | { readonly kind: 'opened'; readonly id: AccountId }
  | { readonly kind: 'out_of_range' }
  | { readonly kind: 'id_taken' }
  /** The account exists, but its balance or credit line may be missing. */
  | { readonly kind: 'half_made'; readonly id: AccountId; readonly cause: unknown };

/** Opens an account. The opening balance and the credit line are separate ledger rows. */
export async function openAccount(
  { name, limits, balanceMicros, creditLineMicros, sandbox }: OpenedAccount,
  { accounts, wallet, clock, randomBytes }: OpeningServices,
): Promise<OpeningOutcome> {
  if (balanceMicros + creditLineMicros > largestAvailableMicros) return { kind: 'out_of_range' };
  const id = parseAccountId(randomBase62(10, randomBytes));
  if (!id) throw new Error('a new account id has a wrong form');
  const account: Account = {
    id,
    name,
    condition: 'active',
    availableMicros: asMicros(0),
    creditLineMicros: asMicros(0),
    inFlight: 0,
    limits,
    policy: { providers: 'all', hiddenModels: [] },
    ...(sandbox && { sandbox }),
    webhookSecrets: [],
    createdAt: new Date(clock.now()).toISOString(),
  };
  if (!(await accounts.create(account))) return { kind: 'id_taken' };
  try {
    if (balanceMicros > 0) await wallet.topUp(id, balanceMicros, openingReference);
    if (creditLineMicros > 0) await wallet.setCreditLine(id, account.creditLineMicros, creditLineMicros);
    return { kind: 'opened', id };
  } catch (cause) {
    return { kind: 'half_made', id, cause };
  }
}

/** Adds to the balance, once for each reference, and clears the alerts that this ends. */
export async function topUp(
  accountId: AccountId,
  amount: Micros,
  reference: string,
  services: LookServices & { readonly wallet: Pick<WalletStore, 'topUp'> },
): Promise<MovementOutcome> {
  const outcome = await services.wallet.topUp(accountId, amount, reference);
  if (outcome.kind === 'applied' || outcome.kind === 'already_applied')
    await lookAfterCommand({ accountId, periods: {} }, services);
  return outcome;
}

/** Changes the credit line, if it is still the one that was read, and sends the alerts that this causes. */
export async function setCreditLine(
  { id: accountId, creditLineMicros }: Pick<Account, 'id' | 'creditLineMicros'>,
  to: Micros,
  services: LookServices & { readonly wallet: Pick<WalletStore, 'setCreditLine'> },
): Promise<CreditLineOutcome> {
  const outcome = await services.wallet.setCreditLine(accountId, creditLineMicros, to);
  if (outcome === 'changed') await lookAfterCommand({ accountId, periods: {} }, services);
  return outcome;
}
