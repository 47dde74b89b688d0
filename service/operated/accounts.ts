/** What an operator does with an account. The command and the operator's pages of the portal share these rules. */
import type { Account } from '../accounts/account.ts';
import type {
  CreditLineLimits,
  CreditLineOutcome,
  Movement,
  MovementOutcome,
  WalletStore,
} from '../accounts/wallet-store.ts';
import type { AccountLimits } from '../contract/limits.ts';
import { type AccountId, parseAccountId, randomBase62 } from '../values/ids.ts';
import type { Clock, RandomBytes } from '../values/runtime.ts';
import { asMicros, largestAvailableMicros, type Micros } from '../values/money.ts';
import { checkAfterCommand, type ThresholdServices } from '../notices/check-thresholds.ts';

export interface OpeningServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly wallet: Pick<WalletStore, 'open'>;
}

export interface OpenedAccount extends Pick<
  Account,
  | 'name'
  | 'sandbox'
  | 'noticeUrl'
  | 'lowBalanceMicros'
  | 'results'
  | 'resultsMinutes'
  | 'externalId'
  | 'openedBy'
> {
  readonly limits: AccountLimits;
  readonly balanceMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly policy?: Account['policy'];
}

export type OpenAccountOutcome =
  | { readonly kind: 'opened'; readonly account: Account }
  | { readonly kind: 'out_of_range' | 'id_taken' };

/** The account that is still to be stored, or why it cannot be. */
export function accountToOpen(
  { balanceMicros, creditLineMicros, policy, ...given }: OpenedAccount,
  { clock, randomBytes }: Pick<OpeningServices, 'clock' | 'randomBytes'>,
): Account | 'out_of_range' {
  if (balanceMicros + creditLineMicros > largestAvailableMicros) return 'out_of_range';
  const id = parseAccountId(randomBase62(10, randomBytes));
  if (!id) throw new Error('a new account id has a wrong form');
  return {
    ...given,
    id,
    condition: 'active',
    availableMicros: asMicros(balanceMicros + creditLineMicros),
    creditLineMicros,
    inFlight: 0,
    policy: policy ?? { providers: 'all', hiddenModels: [] },
    webhookSecrets: [],
    createdAt: new Date(clock.now()).toISOString(),
  };
}

/** Opens an account, with a ledger row each for the opening balance and the credit line, in one transaction. */
export async function openAccount(
  opened: OpenedAccount,
  services: OpeningServices,
): Promise<OpenAccountOutcome> {
  const account = accountToOpen(opened, services);
  if (account === 'out_of_range') return { kind: account };
  const isOpened = (await services.wallet.open(account)) === 'opened';
  return isOpened ? { kind: 'opened', account } : { kind: 'id_taken' };
}

/** Adds to the balance, once for each reference, and clears the alerts that this ends. */
export async function topUp(
  accountId: AccountId,
  amount: Micros,
  reference: string,
  services: ThresholdServices & { readonly wallet: Pick<WalletStore, 'topUp'> },
): Promise<MovementOutcome> {
  const outcome = await services.wallet.topUp(accountId, amount, reference);
  if (outcome.kind === 'applied' || outcome.kind === 'already_applied')
    await checkAfterCommand({ accountId, periods: {} }, services);
  return outcome;
}

/** Adds to the balance or takes from it, and checks the thresholds. */
export async function adjust(
  accountId: AccountId,
  { amountMicros, reason, reference }: Adjustment,
  services: ThresholdServices & { readonly wallet: Pick<WalletStore, 'adjust'> },
): Promise<MovementOutcome> {
  const outcome = await services.wallet.adjust(accountId, amountMicros, reason, reference);
  await checkAfterCommand({ accountId, periods: {} }, services);
  return outcome;
}

interface Adjustment {
  readonly amountMicros: Micros;
  readonly reason: string;
  readonly reference: string | undefined;
}

/** What a person reads of a movement that took a reference. */
export const movementWords = {
  top_up: 'a top-up',
  adjustment: 'an adjustment',
  payment: 'a payment',
  payment_reversed: 'a reversal of a payment',
} as const satisfies Readonly<Record<Movement['kind'], string>>;

/** Changes the credit line, if it is still the one that was read, and sends the alerts that this causes. */
export async function setCreditLine(
  { id: accountId, creditLineMicros }: Pick<Account, 'id' | 'creditLineMicros'>,
  to: Micros,
  services: ThresholdServices & { readonly wallet: Pick<WalletStore, 'setCreditLine'> },
  more: CreditLineLimits = {},
): Promise<CreditLineOutcome> {
  const outcome = await services.wallet.setCreditLine(accountId, creditLineMicros, to, more);
  if (outcome === 'changed') await checkAfterCommand({ accountId, periods: {} }, services);
  return outcome;
}
