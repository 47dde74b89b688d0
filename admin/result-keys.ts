/**
 * Replaces the key that signs addresses of results. A run makes the steps that are due, and each step can be repeated:
 *
 *   (a pair in the secret) ──▶ known to CloudFront ──15 min──▶ signs ──7 days──▶ the one before is retired
 *
 * The secret holds the new pair before CloudFront knows it, and CloudFront trusts the pair before it signs.
 * So the service's addresses stay valid after any call.
 */
import { createHash } from 'node:crypto';
import {
  type CloudFrontClient,
  CreatePublicKeyCommand,
  DeletePublicKeyCommand,
  GetKeyGroupCommand,
  GetPublicKeyCommand,
  type KeyGroupConfig,
  ListPublicKeysCommand,
  UpdateKeyGroupCommand,
} from '@aws-sdk/client-cloudfront';
import { PutSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecretValue } from '../service/aws/secrets.ts';
import { resultMinutes } from '../service/contract/limits.ts';
import type { KeySecret } from '../service/creations/result-signer.ts';
import { newKeyPair } from '../service/release/result-keys.ts';

/** In which every edge of CloudFront has learnt of a new key. */
const spreadMillis = 15 * 60_000;
/** Functions keep a key for five minutes, and an address lives on for another. */
const retiredMillis = resultMinutes.most * 60_000 + 15 * 60_000;

interface KeysOverTime extends KeySecret {
  /** The pair that is to sign. */
  readonly next?: Pick<KeySecret, 'public_key' | 'private_key'> & {
    /** Once the group has the key, its id there, and since when: Unix milliseconds. */
    readonly known?: { readonly id: string; readonly at: number };
  };
  /** Keys that signed before, with the Unix milliseconds of their end. */
  readonly replaced?: readonly { readonly id: string; readonly at: number }[];
}

export interface ResultKeyAccess {
  readonly cloudFront: Pick<CloudFrontClient, 'send'>;
  readonly secrets: SecretsManagerClient;
  readonly keys: {
    readonly secretArn: string;
    readonly keyGroupId: string;
    readonly templateKeyId: string;
  };
  readonly now: () => number;
}

export interface KeyStanding {
  /** CloudFront's id of the key that signs now. */
  readonly signs: string;
  /** The key that signs after the next run. */
  readonly next: string | null;
  /** When the next run continues, RFC 3339. */
  readonly next_run_after: string | null;
  /** Keys that CloudFront still trusts, for addresses that they signed. */
  readonly replaced: readonly string[];
}

/** Begins a replacement, or continues the one that has begun. */
export async function rotateResultKey(access: ResultKeyAccess): Promise<KeyStanding> {
  const { keys, now } = access;
  let secret = await read(access);
  const { next } = secret;
  if (next?.known && next.known.at + spreadMillis <= now()) {
    const { next: _done, replaced = [], ...rest } = secret;
    const before = { id: secret.key_id ?? keys.templateKeyId, at: now() };
    const { id: key_id } = next.known;
    secret = { ...rest, private_key: next.private_key, key_id, replaced: [...replaced, before] };
    await put(secret, access);
  } else if (!next?.known) {
    const pair = next ?? newKeyPair();
    if (!next) await put({ ...secret, next: pair }, access);
    const id = await publicKeyOf(pair.public_key, access);
    await changeGroup(access, (items) => (items.includes(id) ? items : [...items, id]));
    secret = { ...secret, next: { ...pair, known: { id, at: now() } } };
    await put(secret, access);
  }
  return standing(secret, access);
}

/** Takes away the keys of which no address can be alive. The template's key stays in CloudFront, and opens nothing. */
export async function retireResultKeys(access: ResultKeyAccess): Promise<KeyStanding> {
  const { cloudFront, keys, now } = access;
  const secret = await read(access);
  const { replaced = [] } = secret;
  const ended = replaced.filter(({ at }) => at + retiredMillis <= now()).map(({ id }) => id);
  if (ended.length === 0) return standing(secret, access);
  await changeGroup(access, (items) => items.filter((item) => !ended.includes(item)));
  for (const Id of ended.filter((id) => id !== keys.templateKeyId)) {
    const { ETag: IfMatch } = await cloudFront.send(new GetPublicKeyCommand({ Id }));
    await cloudFront.send(new DeletePublicKeyCommand({ Id, IfMatch }));
  }
  const left = { ...secret, replaced: replaced.filter(({ id }) => !ended.includes(id)) };
  await put(left, access);
  return standing(left, access);
}

function standing({ key_id, next, replaced = [] }: KeysOverTime, { keys }: ResultKeyAccess): KeyStanding {
  return {
    signs: key_id ?? keys.templateKeyId,
    next: next?.known?.id ?? null,
    next_run_after: next?.known ? new Date(next.known.at + spreadMillis).toISOString() : null,
    replaced: replaced.map(({ id }) => id),
  };
}

async function read({ secrets, keys }: ResultKeyAccess): Promise<KeysOverTime> {
  const { SecretString = '{}' } = await readSecretValue(secrets, { SecretId: keys.secretArn });
  return JSON.parse(SecretString) as KeysOverTime;
}

async function put(secret: KeysOverTime, { secrets, keys }: ResultKeyAccess): Promise<void> {
  await secrets.send(
    new PutSecretValueCommand({ SecretId: keys.secretArn, SecretString: JSON.stringify(secret) }),
  );
}

/** The id of the public key. An earlier run may have made the key: its name contains the hash. */
async function publicKeyOf(EncodedKey: string, { cloudFront, keys }: ResultKeyAccess): Promise<string> {
  const hash = createHash('sha256').update(EncodedKey).digest('hex').slice(0, 16);
  const Name = `darkroom-results-${keys.keyGroupId}-${hash}`;
  const { PublicKeyList: list } = await cloudFront.send(new ListPublicKeysCommand({}));
  const known = list?.Items?.find((one) => one.Name === Name)?.Id;
  if (known !== undefined) return known;
  const PublicKeyConfig = { CallerReference: Name, Name, EncodedKey };
  const { PublicKey: made } = await cloudFront.send(new CreatePublicKeyCommand({ PublicKeyConfig }));
  if (made?.Id === undefined) throw new Error('CloudFront gave a public key no id');
  return made.Id;
}

async function changeGroup(
  { cloudFront, keys }: ResultKeyAccess,
  change: (items: readonly string[]) => readonly string[],
): Promise<void> {
  const Id = keys.keyGroupId;
  const { KeyGroup: group, ETag: IfMatch } = await cloudFront.send(new GetKeyGroupCommand({ Id }));
  const config = group?.KeyGroupConfig;
  if (!config?.Items) throw new Error('CloudFront gave a key group without keys');
  const Items = [...change(config.Items)];
  if (Items.join() === config.Items.join()) return;
  const KeyGroupConfig: KeyGroupConfig = { ...config, Items };
  await cloudFront.send(new UpdateKeyGroupCommand({ Id, IfMatch, KeyGroupConfig }));
}
