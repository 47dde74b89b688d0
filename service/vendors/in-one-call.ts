/** For vendors that answer a request with the picture itself. Other vendors accept a job (vendor-jobs.ts). */
import {
  type ImageProvider,
  type ProviderAnswer,
  type ProviderCredentials,
  refusedBy,
  type RenderJob,
} from './provider.ts';
import { answering } from './vendor-http.ts';

export interface OneCall {
  readonly name: string;
  readonly credentials: ProviderCredentials;
  /** Throws CallBroke when no complete answer came, and the signal's reason when the signal aborts. */
  readonly ask: (key: string, job: RenderJob, signal: AbortSignal) => Promise<ProviderAnswer>;
}

/** Reads the vendor's key for each call, and from the secret again after a refused key. */
export function inOneCall({ name, credentials, ask }: OneCall): ImageProvider {
  return {
    name,
    submit: (job, signal) =>
      answering(async () => {
        const key = await credentials.read(name);
        if (key === undefined) return refusedBy('credentials', 'no credential');
        const answer = await ask(key, job, signal);
        if (answer.kind === 'refused' && answer.reason === 'credentials') credentials.forget(name);
        return answer;
      }),
  };
}
