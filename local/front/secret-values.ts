import * as z from 'zod';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import { operator } from '../aws/iam.ts';

const valueSchema = z.object({ SecretString: z.string() });

/**
 * Reads the value of a secret of this folder.
 * @param versionId absent: the current version
 */
export async function secretValue(
  handle: AwsEndpoint['handle'],
  secretId: string,
  versionId?: string,
): Promise<string> {
  const output = await handle({
    service: 'secretsmanager',
    operation: 'GetSecretValue',
    caller: operator,
    input: { SecretId: secretId, ...(versionId !== undefined && { VersionId: versionId }) },
  });
  return valueSchema.parse(output).SecretString;
}

const reference = /^\{\{resolve:secretsmanager:(.+):SecretString:::([\w-]+)?\}\}$/;

/**
 * CloudFormation replaces such a reference by the value of the secret when it deploys a text that has
 * changed. Here this moment is the first use after a start. Later values of the secret change nothing, and other
 * text stays as it is.
 */
export function createReferences(handle: AwsEndpoint['handle']): (text: string) => Promise<string> {
  const deployed = new Map<string, string>();
  return async (text) => {
    const known = deployed.get(text);
    if (known !== undefined) return known;
    const [, secretId, versionId] = reference.exec(text) ?? [];
    const value = secretId === undefined ? text : await secretValue(handle, secretId, versionId);
    deployed.set(text, value);
    return value;
  };
}
