import * as z from 'zod';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import { operator } from '../aws/iam.ts';

const valueSchema = z.object({ SecretString: z.string() });

/** Reads the current value of a secret of this folder. */
export async function secretValue(handle: AwsEndpoint['handle'], secretId: string): Promise<string> {
  const output = await handle({
    service: 'secretsmanager',
    operation: 'GetSecretValue',
    caller: operator,
    input: { SecretId: secretId },
  });
  return valueSchema.parse(output).SecretString;
}

const reference = /^\{\{resolve:secretsmanager:(.+):SecretString:::\}\}$/;

/** CloudFormation puts the value of a secret in the place of such a reference. Other text stays as it is. */
export async function resolveReference(handle: AwsEndpoint['handle'], text: string): Promise<string> {
  const [, secretId] = reference.exec(text) ?? [];
  return secretId === undefined ? text : secretValue(handle, secretId);
}
