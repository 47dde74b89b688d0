/** The users of our own Cognito pool, which has no sign-up. A signer serves its two calls. */
import { serviceUrl } from '../aws/aws-place.ts';
import { createSignedFetch } from '../aws/signed-fetch.ts';
import { awsErrorName } from '../values/errors.ts';
import type { Clock } from '../values/runtime.ts';

const callMillis = 10_000;
const retries = 3;

export interface UserPoolAccess {
  /** Its first part is the region: eu-central-1_AbCdEf123. */
  readonly userPoolId: string;
  /** The credentials of the caller, and the domain of the partition (aws-place.ts). */
  readonly credentials: () => Promise<{
    readonly urlSuffix: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string | undefined;
  }>;
  readonly endpoint?: string;
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>;
  readonly signal?: AbortSignal;
}

/** Makes a user, whom Cognito sends a first password. Other users stay. Throws when Cognito refuses. */
export function createRegisterUser(access: UserPoolAccess): (email: string) => Promise<'sent' | 'none'> {
  return async (email) =>
    inPool(access, async (call) => {
      const create = (how: object): ReturnType<typeof outcomeOf> =>
        call('AdminCreateUser', { Username: email, ...how }).then(outcomeOf);
      const made = await create({
        UserAttributes: [
          { Name: 'email', Value: email },
          { Name: 'email_verified', Value: 'true' },
        ],
        DesiredDeliveryMediums: ['EMAIL'],
      });
      if (made === 'done') return 'sent';
      const again = await create({ MessageAction: 'RESEND', DesiredDeliveryMediums: ['EMAIL'] });
      return again === 'done' ? 'sent' : 'none';
    });
}

/** Deletes a user. "none": there was no such user. Throws when Cognito refuses. */
export function createRemoveUser(access: UserPoolAccess): (email: string) => Promise<'removed' | 'none'> {
  return async (email) =>
    inPool(access, async (call) => {
      const response = await call('AdminDeleteUser', { Username: email });
      const text = await response.text();
      if (response.ok) return 'removed';
      const name = awsErrorName(text);
      if (name === 'UserNotFoundException') return 'none';
      throw new Error(`the user pool answered ${response.status} ${name}`);
    });
}

type PoolCall = (operation: 'AdminCreateUser' | 'AdminDeleteUser', input: object) => Promise<Response>;

async function inPool<Result>(
  access: UserPoolAccess,
  work: (call: PoolCall) => Promise<Result>,
): Promise<Result> {
  const region = access.userPoolId.split('_')[0] ?? '';
  const { accessKeyId, secretAccessKey, sessionToken, urlSuffix } = await access.credentials();
  const { endpoint } = access;
  const place = { region, urlSuffix, ...(endpoint !== undefined && { endpoint }) };
  const send = createSignedFetch({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 'cognito-idp',
    region,
    retries,
    clock: access.clock,
  });
  const limit = access.clock.timeout(callMillis);
  try {
    return await work((operation, input) =>
      send(`${serviceUrl('cognito-idp', place)}/`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
        },
        body: JSON.stringify({ UserPoolId: access.userPoolId, ...input }),
        signal: AbortSignal.any([limit.signal, ...(access.signal ? [access.signal] : [])]),
      }),
    );
  } finally {
    limit.release();
  }
}

/** These errors say that there is a user, and that the user has a password. */
const userIsThere = ['UsernameExistsException', 'UnsupportedUserStateException'];

async function outcomeOf(response: Response): Promise<'done' | 'user_is_there'> {
  const text = await response.text();
  if (response.ok) return 'done';
  const name = awsErrorName(text);
  if (userIsThere.includes(name)) return 'user_is_there';
  throw new Error(`the user pool answered ${response.status} ${name}`);
}
