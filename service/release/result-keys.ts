/**
 * Makes the first pair of keys that sign addresses of results. CloudFormation asks once, when the stack gets the keys.
 * Every later question gets the same public key: CloudFront changes no public key, and the operator's command replaces
 * the private one (admin/result-keys.ts).
 */
import { generateKeyPairSync } from 'node:crypto';
import * as z from 'zod';
import type { KeySecret } from '../creations/result-signer.ts';
import { answerRequest, requestSchema } from './custom-resource.ts';
import type { ProtectionServices } from './open.ts';

const keysRequestSchema = requestSchema.extend({ ResourceProperties: z.object({ SecretArn: z.string() }) });

export function isForResultKeys(event: unknown): boolean {
  return keysRequestSchema.safeParse(event).success;
}

/** Answers CloudFormation. A deletion changes nothing: the secret stays. */
export async function makeResultKeys(event: unknown, services: ProtectionServices): Promise<void> {
  const { ResourceProperties: properties, ...asked } = keysRequestSchema.parse(event);
  const { SecretArn: secretArn } = properties;
  const isDeleted = asked.RequestType === 'Delete';
  const failure = await answerRequest(asked, services, {
    physicalId: secretArn,
    run: async () => (isDeleted ? undefined : { PublicKey: await firstPublicKey(secretArn, services) }),
    done: isDeleted ? 'the secret keeps its key' : 'the key is there',
  });
  if (failure !== undefined) services.log.info('result_key_not_made', { reason: failure });
}

async function firstPublicKey(secretArn: string, { secrets }: ProtectionServices): Promise<string> {
  const known = JSON.parse(await secrets.read(secretArn)) as Partial<KeySecret>;
  if (known.public_key !== undefined) return known.public_key;
  const made = newKeyPair();
  await secrets.put(secretArn, JSON.stringify(made satisfies KeySecret));
  return made.public_key;
}

/** P-256 signs in a tenth of the time of RSA, and its addresses are shorter. CloudFront takes both. */
export function newKeyPair(): Pick<KeySecret, 'public_key' | 'private_key'> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { public_key: publicKey, private_key: privateKey };
}
