/** The key of signed addresses in a world: its secret, the function's signer, and CloudFront, which checks addresses. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { refusalOf } from '../../../local/front/signed-address.ts';
import { createReplaceableSecret } from '../../../service/aws/secrets.ts';
import type { Signer } from '../../../service/creations/result-addresses.ts';
import { type KeySecret, signedBy } from '../../../service/creations/result-signer.ts';
import { Overloaded } from '../../../service/values/errors.ts';
import { environment } from '../environment.ts';

export const resultKeyArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:result-key';

const keyId = 'KOFTHEWORLD';
const { publicKey, privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const trusted = createPublicKey(publicKey);

const value: KeySecret = { public_key: publicKey, private_key: privateKey };
export const resultKeySecret = JSON.stringify(value);

/** A line in the middle of the private key, which no log may show. */
export const resultKeyMark = privateKey.split('\n')[1] ?? '';

export function signerOf(access: Omit<Parameters<typeof createReplaceableSecret>[0], 'secretArn'>): Signer {
  return async (baseUrl) => {
    // Each reading is the first of its environment, so that faults meet it.
    const read = createReplaceableSecret({ ...access, secretArn: resultKeyArn });
    // As in the functions (signed-secret.ts): another try may get the key.
    const [secret = '{}'] = await read().catch((cause: unknown) => {
      throw new Overloaded('no key of signed addresses', { cause });
    });
    return signedBy(secret, keyId, baseUrl);
  };
}

/** The key of the object that an address names, and the query of the address. */
export interface ResultAddress {
  readonly key: string;
  readonly query: string;
}

/** The addresses of results in a text. */
export function addressesIn(text: string): ResultAddress[] {
  const form = new RegExp(`${environment['RESULTS_BASE_URL'] ?? ''}/([^"?\\\\\\s]+)\\??([^"\\\\\\s]*)`, 'g');
  return [...text.matchAll(form)].map(([, key = '', query = '']) => ({ key, query }));
}

/** Whether CloudFront opens the address at this time. */
export function opensAt({ key, query }: ResultAddress, nowMillis: number): boolean {
  const url = `${environment['RESULTS_BASE_URL'] ?? ''}/${key}`;
  return !refusalOf(url, query, (id) => (id === keyId ? trusted : undefined), nowMillis);
}

/** A text with its addresses as they are without signatures. Each reading, and each round of a webhook, signs anew. */
export function withoutSignatures(text: string): string {
  return text.replace(/\?Expires=[^"]*/g, '');
}

export function withoutAddresses(text: string): string {
  return text.replace(/(?<="result_urls":\[)[^\]]*/, '');
}
