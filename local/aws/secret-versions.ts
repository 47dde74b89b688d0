import * as z from 'zod';
import { AwsError } from './aws-error.ts';

const versionSchema = z.object({
  text: z.string().optional(),
  /** Base64. */
  binary: z.string().optional(),
  stages: z.array(z.string()),
  createdAtMs: z.number(),
});

/** A secret in the form of its file. Files of a data folder hold these names. */
export const secretSchema = z.object({
  arn: z.string(),
  name: z.string(),
  createdAtMs: z.number(),
  versions: z.record(z.string(), versionSchema),
});

/** A secret with its current and its previous version. */
export type Secret = z.output<typeof secretSchema>;

/** One value of a secret. */
export type SecretVersion = z.output<typeof versionSchema>;

/** A new value in a request. */
export interface NewValue {
  readonly SecretString?: string | undefined;
  readonly SecretBinary?: string | undefined;
}

/**
 * The secret with a new current version. The version that was current becomes the previous one. A version
 * without a stage is deprecated, and AWS deletes it. The same id with the same value changes nothing. The
 * same id with another value throws ResourceExistsException.
 */
export function putVersion(secret: Secret, id: string, value: NewValue, nowMillis: number): Secret {
  const existing = secret.versions[id];
  if (existing !== undefined) {
    if (existing.text === value.SecretString && existing.binary === value.SecretBinary) return secret;
    throw new AwsError(
      'ResourceExistsException',
      `You can't use ClientRequestToken ${id} because that value is already in use for a version of secret ${secret.arn}.`,
    );
  }
  const current = Object.entries(secret.versions).find(([, version]) =>
    version.stages.includes('AWSCURRENT'),
  );
  const previous = current === undefined ? {} : { [current[0]]: { ...current[1], stages: ['AWSPREVIOUS'] } };
  const added: SecretVersion = {
    text: value.SecretString,
    binary: value.SecretBinary,
    stages: ['AWSCURRENT'],
    createdAtMs: nowMillis,
  };
  return { ...secret, versions: { ...previous, [id]: added } };
}

/**
 * Finds a version by its id, by its stage, or by both; without either the current version. Throws
 * ResourceNotFoundException.
 */
export function versionOf(
  secret: Secret,
  id: string | undefined,
  stage: string | undefined,
): { readonly id: string; readonly version: SecretVersion } {
  const wanted = stage ?? (id === undefined ? 'AWSCURRENT' : undefined);
  const found = Object.entries(secret.versions).find(
    ([versionId, version]) =>
      (id === undefined || versionId === id) && (wanted === undefined || version.stages.includes(wanted)),
  );
  if (found !== undefined) return { id: found[0], version: found[1] };
  const label = wanted === undefined ? `VersionId: ${id ?? ''}` : `staging label: ${wanted}`;
  throw new AwsError(
    'ResourceNotFoundException',
    `Secrets Manager can't find the specified secret value for ${label}`,
  );
}
