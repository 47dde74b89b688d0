/** A scripted provider whose vendor calls back. */
import type {
  CallbackVerdict,
  ImageProvider,
  ProviderAnswer,
  RenderJob,
} from '../../service/vendors/provider.ts';
import { fakeProvider } from '../api/fakes.ts';

export interface CallingProvider extends ImageProvider {
  readonly calls: string[];
  /** The address of each submission. */
  readonly addresses: (string | undefined)[];
}

export interface Calling {
  readonly name?: string;
  readonly ready?: () => Promise<boolean>;
  readonly verify?: () => Promise<CallbackVerdict>;
}

/** Gives its answers one after the other. A job's id is what follows the last space of the accepted id. */
export function callingProvider(
  { name = 'first', ready, verify }: Calling,
  ...answers: readonly (ProviderAnswer | (() => ProviderAnswer | Promise<ProviderAnswer>))[]
): CallingProvider {
  const addresses: (string | undefined)[] = [];
  const provider = fakeProvider(name, ...answers);
  return {
    ...provider,
    addresses,
    submit: async (job: RenderJob, signal) => {
      addresses.push(job.callbackUrl);
      return provider.submit(job, signal);
    },
    callback: {
      ready: ready ?? (async () => Promise.resolve(true)),
      verify: verify ?? (async () => Promise.resolve({ kind: 'genuine', jobId: 'job-1' })),
      isJob: (accepted, called) => accepted.split(' ').at(-1) === called,
    },
  };
}
