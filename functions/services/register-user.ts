import { createRegisterUser } from '../../adapters/user-pool.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { InvitationEmail } from '../../core/ports/people.ts';
import { poolEmailsADay } from '../../core/portal/invitation-room.ts';
import { awsEnvironment, environment } from './environment.ts';

/** How invited people can sign in, and who writes to them. */
export interface Registration {
  /** Makes the sign-in of an invited person possible in the stack's own user pool. Without a pool it does nothing. */
  readonly registerUser: (email: string) => Promise<InvitationEmail>;
  /** E-mails of the sender that all accounts share. Infinity: nobody sends e-mails. */
  readonly emailsADay: number;
}

export function registration(signal: AbortSignal): Registration {
  const userPoolId = environment('USER_POOL_ID');
  if (userPoolId === '') return { registerUser: () => Promise.resolve('none'), emailsADay: Infinity };
  const credentials = () => Promise.resolve(awsEnvironment());
  return {
    registerUser: createRegisterUser({ userPoolId, credentials, clock: systemClock, signal }),
    emailsADay: poolEmailsADay,
  };
}
