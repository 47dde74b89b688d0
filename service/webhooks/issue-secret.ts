/** The webhook secret as people see it: shown, issued and replaced. The command and the portal share this. */
import type { Account, SealedSecret } from '../accounts/account.ts';
import type { AccountId } from '../values/ids.ts';
import type { Clock, RandomBytes } from '../values/runtime.ts';
import type { SecretBox } from './secret-box.ts';
import { replacedSecretSeconds, rotated, secretsAt, type SignFrom } from './secrets.ts';
import { webhookSecret } from './webhook.ts';

export interface SecretServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly secretBox: Pick<SecretBox, 'open' | 'seal'>;
  readonly accounts: {
    replaceSecrets(
      id: AccountId,
      current: SealedSecret | undefined,
      next: readonly SealedSecret[],
    ): Promise<boolean>;
  };
}

export type IssueOutcome =
  | { readonly kind: 'issued'; readonly account: Account }
  /** Another call replaced the secret at the same time, and nothing was issued. */
  | { readonly kind: 'changed_meanwhile' };

/** Issues or replaces the secret, and removes old ones. Throws SecretLost when one must still sign. */
export async function issueSecret(
  account: Account,
  signFrom: SignFrom,
  { clock, randomBytes, secretBox, accounts }: SecretServices,
): Promise<IssueOutcome> {
  const now = clock.now();
  const { signing } = secretsAt(account.webhookSecrets, now);
  // With a later start the old secret must still sign, so it must be possible to open it.
  if (signing && signFrom !== 'now') await secretBox.open(account.id, signing.sealed);
  const sealed = await secretBox.seal(account.id, webhookSecret(randomBytes(32)));
  const webhookSecrets = rotated(account.webhookSecrets, sealed, signFrom, now);
  const stored = await accounts.replaceSecrets(account.id, account.webhookSecrets[0], webhookSecrets);
  return stored ? { kind: 'issued', account: { ...account, webhookSecrets } } : { kind: 'changed_meanwhile' };
}

export interface ShownSecret {
  readonly secret: string;
  readonly issuedAt: string;
  readonly signsFrom: string;
  /** The secret that signs until then. Absent when the newest one signs already. */
  readonly signingUntilThen?: string;
  readonly replacedValidUntil: readonly string[];
}

/** Opens the newest secret. Undefined: none was issued. Throws SecretLost when it cannot be opened. */
export async function newestSecret(
  { id, webhookSecrets }: Pick<Account, 'id' | 'webhookSecrets'>,
  { clock, secretBox }: Pick<SecretServices, 'clock' | 'secretBox'>,
): Promise<ShownSecret | undefined> {
  const [newest] = webhookSecrets;
  if (!newest) return undefined;
  const { signing, pending, replaced } = secretsAt(webhookSecrets, clock.now());
  const isPending = signing !== undefined && pending.includes(newest);
  return {
    secret: await secretBox.open(id, newest.sealed),
    issuedAt: timeOf(newest.issuedAt),
    signsFrom: timeOf(newest.signsFrom ?? newest.issuedAt),
    ...(isPending && { signingUntilThen: await secretBox.open(id, signing.sealed) }),
    replacedValidUntil: [...(isPending ? [...pending.slice(1), signing] : []), ...replaced].flatMap(
      ({ replacedAt }) =>
        replacedAt === undefined ? [] : [timeOf(replacedAt + replacedSecretSeconds * 1000)],
    ),
  };
}

const timeOf = (millis: number): string => new Date(millis).toISOString();
