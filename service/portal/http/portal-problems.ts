/** The refusals that only the portal's API makes. */
import { Problem } from '../../values/problem.ts';

/** Why a request has no session: it has no cookie, the cookie is unknown, or the session has expired. */
export type NoSession = 'no_session' | 'unknown_session' | 'session_ended';

/** 401. */
export function sessionRequired(reason: NoSession): Problem {
  return new Problem('ERR_SESSION_REQUIRED', 'Sign in to go on.', { reason });
}

/** 403: the request did not come from the portal's own pages, or not through the portal's address. */
export function foreignOrigin(): Problem {
  return new Problem('ERR_FORBIDDEN', 'The portal answers only its own pages.', { reason: 'origin' });
}

/** 403: the person's role does not allow this. */
export function roleTooLow(): Problem {
  return new Problem('ERR_FORBIDDEN', 'Your role in this account does not allow this.', { reason: 'role' });
}

/** 403: the person has no place in the account of the session, such as after a removal. */
export function noPlace(): Problem {
  const message = 'You do not belong to this account, or not any more.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'role', is_member: false });
}

/** 403: the sign-in is too old for what was asked. */
export function reauthenticate(): Problem {
  const message = 'Sign in again to do this: your last sign-in is more than 15 minutes ago.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'reauthenticate' });
}

/** 409: the form was filled in from values that are no longer stored. */
export function changedMeanwhile(): Problem {
  const message = 'Somebody changed it meanwhile. Nothing was stored: look again.';
  return new Problem('ERR_CONFLICT', message, { reason: 'changed_meanwhile' });
}

/** 404: nothing here has this path. */
export function nothingHere(): Problem {
  return new Problem('ERR_NOT_FOUND', 'The portal has no such operation.');
}

/** 404: the same answer for an account that does not exist and for one in which the person has no place. */
export function noSuchAccount(): Problem {
  return new Problem('ERR_NOT_FOUND', 'You belong to no account with this id.');
}
