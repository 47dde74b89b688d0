/**
 * An operator may have replaced a key that a running function still keeps. The vendor refuses the old key and does
 * nothing, so the same call is made once more with the new key.
 */
import type { ImageProvider, ProviderAnswer, ProviderCredentials } from './provider.ts';

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
