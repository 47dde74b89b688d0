/**
 * The users of the stack's own pool in Amazon Cognito. An invited address needs a user there, because nobody signs
 * up by themselves. One call needs only a signer, and no client of the SDK.
 */
import { AwsClient } from 'aws4fetch';
import type { Clock } from '../core/ports/runtime.ts';
import { awsErrorName } from './aws-error-name.ts';
import { serviceUrl } from './aws-place.ts';

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
  /** Replaces the address of Cognito in the region. */
  readonly endpoint?: string;
  readonly clock: Pick<Clock, 'timeout'>;
  /** Aborts when the time of the request is used up. */
  readonly signal?: AbortSignal;
}

/**
 * Makes a user with this address, which counts as verified: the invitation went there. Cognito sends the person an
 * e-mail with a first password. A user that exists stays as it is.
 */
export function createRegisterUser(access: UserPoolAccess): (email: string) => Promise<void> {
  const region = access.userPoolId.split('_')[0] ?? '';
  return async (email) => {
    const { accessKeyId, secretAccessKey, sessionToken, urlSuffix } = await access.credentials();
    const { endpoint } = access;
    const place = { region, urlSuffix, ...(endpoint !== undefined && { endpoint }) };
    const client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 'cognito-idp',
      region,
      retries,
    });
    const limit = access.clock.timeout(callMillis);
    try {
      const response = await client.fetch(`${serviceUrl('cognito-idp', place)}/`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'AWSCognitoIdentityProviderService.AdminCreateUser',
        },
        body: JSON.stringify({
          UserPoolId: access.userPoolId,
          Username: email,
          UserAttributes: [
            { Name: 'email', Value: email },
            { Name: 'email_verified', Value: 'true' },
          ],
          DesiredDeliveryMediums: ['EMAIL'],
        }),
        signal: AbortSignal.any([limit.signal, ...(access.signal ? [access.signal] : [])]),
      });
      await check(response);
    } finally {
      limit.release();
    }
  };
}

async function check(response: Response): Promise<void> {
  const text = await response.text();
  if (response.ok) return;
  const name = awsErrorName(text);
  if (name === 'UsernameExistsException') return;
  throw new Error(`the user pool answered ${response.status} ${name}`);
}
