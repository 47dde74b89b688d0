/** The vendors' keys: one secret with a JSON object by provider, with the account for callbacks. */
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { keep } from '../values/kept.ts';
import type { Clock } from '../values/runtime.ts';
import {
  callbackAccountOf,
  CredentialsUnreadable,
  type ImageProvider,
  type ProviderAnswer,
  type ProviderCredentials,
} from './provider.ts';

const cacheMillis = 5 * 60_000;

export interface CredentialsOptions {
  readonly client: SecretsManagerClient;
  readonly secretArn: string;
  readonly clock: Clock;
}

/** Reads the secret at most once in five minutes, after a refused key, and for an absent name. */
export function createProviderCredentials({
  client,
  secretArn,
  clock,
}: CredentialsOptions): ProviderCredentials {
  const kept = keep(cacheMillis, async () => keysFor(client, secretArn), clock);
  return {
    read: async (name) => kept.find((keys) => keyIn(keys, name)),
    forget: () => {
      kept.forget();
    },
  };
}

export function createCredentialEditor(client: SecretsManagerClient, secretArn: string) {
  const change = async (replaced: readonly string[], value?: string): Promise<void> => {
    const kept = Object.entries(await readKeys(client, secretArn)).filter(
      ([name]) => !replaced.includes(name),
    );
    const added = value === undefined ? [] : replaced.map((name) => [name, value]);
    const next: unknown = Object.fromEntries([...kept, ...added]);
    await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: JSON.stringify(next) }));
  };
  return {
    names: async (): Promise<readonly string[]> => Object.keys(await readKeys(client, secretArn)),
    set: (provider: string, key: string): Promise<void> => change([provider], key),
    /** Names the account whose callbacks are ours. Undefined: none are, and jobs are polled. */
    setCallbackAccount: (provider: string, account: string | undefined): Promise<void> =>
      change([callbackAccountOf(provider)], account),
    remove: (provider: string): Promise<void> => change([provider, callbackAccountOf(provider)]),
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

function keyIn(keys: Keys, name: string): string | undefined {
  const key = keys[name];
  return typeof key === 'string' && key !== '' ? key : undefined;
}

// An operator may have replaced a key that a running function still keeps. The vendor refuses the old key and does
// nothing, so the same call is made once more with the new key.

/** The provider, which calls again when its key was refused and the secret holds another one. */
export function withNewKey(provider: ImageProvider, credentials: ProviderCredentials): ImageProvider {
  const { name } = provider;
  // The adapter answers for a secret that cannot be read.
  const keyNow = async (): Promise<string | undefined> => credentials.read(name).catch(() => undefined);
  const calling = async (call: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> => {
    const used = await keyNow();
    const answer = await call();
    if (answer.kind !== 'refused' || answer.reason !== 'credentials') return answer;
    const current = await keyNow();
    return current === undefined || current === used ? answer : call();
  };
  const poll = provider.poll?.bind(provider);
  return {
    ...provider,
    submit: async (job, signal) => calling(async () => provider.submit(job, signal)),
    ...(poll && { poll: async (jobId, job, signal) => calling(async () => poll(jobId, job, signal)) }),
  };
}
