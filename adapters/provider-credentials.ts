/**
 * The vendors' keys. One secret in Secrets Manager holds a JSON object from provider names to keys. Other
 * members of the object are kept as they are.
 */
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../core/ports/runtime.ts';
import { CredentialsUnreadable, type ProviderCredentials } from '../core/provider.ts';

const cacheMillis = 5 * 60_000;

export interface CredentialsOptions {
  readonly client: SecretsManagerClient;
  readonly secretArn: string;
  readonly clock: Clock;
}

/** Reads the secret at most once in five minutes, and again after a vendor has refused a key. */
export function createProviderCredentials({
  client,
  secretArn,
  clock,
}: CredentialsOptions): ProviderCredentials {
  let held: { readonly keys: Keys; readonly until: number } | undefined;
  return {
    read: async (provider) => {
      if (!held || held.until <= clock.now())
        held = { keys: await keysFor(client, secretArn), until: clock.now() + cacheMillis };
      return keyIn(held.keys, provider);
    },
    forget: () => {
      held = undefined;
    },
  };
}

/** Changes the keys, for the operator's command. */
export interface CredentialEditor {
  /** The names of the providers that have a key. */
  names(): Promise<readonly string[]>;
  set(provider: string, key: string): Promise<void>;
  remove(provider: string): Promise<void>;
}

export function createCredentialEditor(client: SecretsManagerClient, secretArn: string): CredentialEditor {
  const change = async (provider: string, key: string | undefined): Promise<void> => {
    const kept = Object.entries(await readKeys(client, secretArn)).filter(([name]) => name !== provider);
    const next = Object.fromEntries(key === undefined ? kept : [...kept, [provider, key]]);
    await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: JSON.stringify(next) }));
  };
  return {
    names: async () => Object.keys(await readKeys(client, secretArn)),
    set: (provider, key) => change(provider, key),
    remove: (provider) => change(provider, undefined),
  };
}

async function keysFor(client: SecretsManagerClient, secretArn: string): Promise<Keys> {
  try {
    return await readKeys(client, secretArn);
  } catch (error) {
    throw new CredentialsUnreadable('the secret of the providers cannot be read', { cause: error });
  }
}

type Keys = Readonly<Record<string, unknown>>;

async function readKeys(client: SecretsManagerClient, secretArn: string): Promise<Keys> {
  const answer = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
  const keys: unknown = JSON.parse(answer.SecretString ?? '{}');
  if (typeof keys !== 'object' || keys === null)
    throw new Error('the secret of the providers is no JSON object');
  return { ...keys };
}

function keyIn(keys: Keys, provider: string): string | undefined {
  const key = keys[provider];
  return typeof key === 'string' && key !== '' ? key : undefined;
}
