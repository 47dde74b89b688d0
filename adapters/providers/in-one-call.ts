/** A vendor that answers with the picture itself, where others accept a job and are asked for it (vendor-jobs.ts). */
import type { ImageProvider, ProviderAnswer, ProviderCredentials, RenderJob } from '../../core/provider.ts';
import { refusedBy } from '../../core/provider.ts';
import { answering } from './vendor-http.ts';

export interface OneCall {
  readonly name: string;
  readonly credentials: ProviderCredentials;
  /** Throws CallBroke when no whole answer came, and what its signal aborts with. */
  readonly ask: (key: string, job: RenderJob, signal: AbortSignal) => Promise<ProviderAnswer>;
}

/** Reads the vendor's key for each call, and has it read anew after one that the vendor refused. */
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
