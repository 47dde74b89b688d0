import { createRegisterUser } from '../../adapters/user-pool.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import { awsEnvironment, environment } from './environment.ts';

/** Makes the sign-in of an invited person possible in the stack's own user pool. Without a pool it does nothing. */
export function registerUser(signal: AbortSignal): (email: string) => Promise<void> {
  const userPoolId = environment('USER_POOL_ID');
  if (userPoolId === '') return () => Promise.resolve();
  const credentials = () => Promise.resolve(awsEnvironment());
  return createRegisterUser({ userPoolId, credentials, clock: systemClock, signal });
}
