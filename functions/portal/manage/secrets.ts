/** The webhook secret in the answers of the portal. */
import type { Account } from '../../../core/account.ts';
import { newestSecret } from '../../../core/issue-secret.ts';
import { SecretLost } from '../../../core/ports/secret-box.ts';
import type { SecretView } from '../../../core/portal/views.ts';
import { Problem } from '../../../core/problem.ts';
import type { ManageServices } from '../../services/portal-manage.ts';

/** The newest secret in plain text. The account has one. */
export async function secretView(account: Account, services: ManageServices): Promise<SecretView> {
  const shown = await orLost(() => newestSecret(account, services));
  if (!shown) throw new Error('the account has no webhook secret');
  return {
    secret: shown.secret,
    issued_at: shown.issuedAt,
    signs_from: shown.signsFrom,
    ...(shown.signingUntilThen !== undefined && { signing_until_then: shown.signingUntilThen }),
  };
}

/** Does the work, and refuses with a sentence when a secret can no longer be opened. */
export async function orLost<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SecretLost ? secretLost() : error;
  }
}

/** 400: the operator lost the key under which the secret was stored. */
function secretLost(): Problem {
  const message =
    'The webhook secret cannot be opened any more. Replace it by a new one that signs from now on.';
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'secret_lost', errors: [] });
}

/** 400: nothing can be signed. */
export function noSecret(): Problem {
  const message = 'The account has no webhook secret yet. Show the secret first, which issues it.';
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'no_secret', errors: [] });
}
