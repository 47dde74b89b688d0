import type { IssuerUnavailable } from '../../../core/ports/identity-provider.ts';
import { errorName } from '../../error-name.ts';
import type { SignInServices } from '../../services/portal-sign-in.ts';

/** Tells the operator why nobody can sign in. The text of the cause stays out: it could quote the issuer. */
export function logUnavailable(error: IssuerUnavailable, { log }: Pick<SignInServices, 'log'>): void {
  log.info('issuer_unavailable', { why: error.message, cause: errorName(error.cause) });
}
