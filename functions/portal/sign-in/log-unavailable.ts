import type { IssuerUnavailable } from '../../../core/ports/identity-provider.ts';
import { errorName } from '../../error-name.ts';
import type { SignInServices } from '../../services/portal-sign-in.ts';

/** Logs why sign-ins fail. The text of the cause is left out: it could quote the issuer. */
export function logUnavailable(error: IssuerUnavailable, { log }: Pick<SignInServices, 'log'>): void {
  log.info('issuer_unavailable', { why: error.message, cause: errorName(error.cause) });
}
