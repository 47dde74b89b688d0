/** The secret by which the portal's distribution proves itself to the portal's functions. */
import { createHash } from 'node:crypto';
import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { RandomBytes } from '../service/values/runtime.ts';

/** How long a function may still know only the value before. */
export const originSecretSeconds = 300;

export interface OriginSecretRotation {
  /** The version that the next deployment has to name. */
  readonly version: string;
  /** False: this version waits for its deployment since an earlier rotation, so no new value was put. */
  readonly isNew: boolean;
}

export interface OriginSecretOptions {
  readonly client: SecretsManagerClient;
  readonly randomBytes: RandomBytes;
  /** Both throw when the stack is older than its outputs. */
  readonly secretArn: () => string;
  /** The version that the deployed template names, or "AWSCURRENT". */
  readonly deployedVersion: () => string;
}

/**
 * Puts a new value. The functions accept the newest value and the one before it. So a second new value before the
 * first one is deployed would close the portal, and none is put then.
 */
export async function rotateOriginSecret({
  client,
  randomBytes,
  secretArn,
  deployedVersion,
}: OriginSecretOptions): Promise<OriginSecretRotation> {
  const SecretId = secretArn();
  const { VersionIdsToStages: versions = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
  const versionAt = (stage: string): string | undefined =>
    Object.entries(versions).find(([, stages]) => stages.includes(stage))?.[0];
  const current = versionAt('AWSCURRENT') ?? '';
  const wasNeverReplaced = versionAt('AWSPREVIOUS') === undefined;
  if (!wasNeverReplaced && deployedVersion() !== current) return { version: current, isNew: false };
  // The version follows from the version before. Of two rotations at once, Secrets Manager refuses the later one.
  const version = createHash('sha256').update(`after ${current}`).digest('hex');
  try {
    await client.send(
      new PutSecretValueCommand({
        SecretId,
        ClientRequestToken: version,
        SecretString: Buffer.from(randomBytes(32)).toString('hex'),
      }),
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceExistsException') return { version, isNew: false };
    throw error;
  }
  return { version, isNew: true };
}
