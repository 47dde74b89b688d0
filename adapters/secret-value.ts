/** Reads a value of Secrets Manager. */
import {
  GetSecretValueCommand,
  type GetSecretValueCommandInput,
  type GetSecretValueCommandOutput,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { Overloaded } from '../core/ports/requests.ts';
import { isShed } from './dynamodb/shed.ts';

/** Throws Overloaded when Secrets Manager throttled every try: the same request may succeed a moment later. */
export async function readSecretValue(
  client: SecretsManagerClient,
  input: GetSecretValueCommandInput,
): Promise<GetSecretValueCommandOutput> {
  try {
    return await client.send(new GetSecretValueCommand(input));
  } catch (error) {
    throw isShed(error) ? new Overloaded('Secrets Manager stayed busy', { cause: error }) : error;
  }
}
