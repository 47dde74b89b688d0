/** A vendor that gives one answer to every request, so that a test can choose every byte of the answer. */
import { type FakeVendor, type Reply, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { VendorSettings } from '../../service/vendors/provider.ts';

export interface AnsweringVendor extends FakeVendor {
  /** The settings of an adapter that calls this vendor. */
  readonly settings: VendorSettings;
  /** Decides the answer to each later request, which may depend on the path. */
  readonly answerWith: (reply: Reply | ((path: string) => Reply)) => void;
}

/** Starts the vendor. The caller stops it. */
export async function startAnsweringVendor(): Promise<AnsweringVendor> {
  let reply: Reply | ((path: string) => Reply) = { status: 200 };
  const vendor = await startFakeVendor(({ path }) => (typeof reply === 'function' ? reply(path) : reply));
  return {
    ...vendor,
    settings: {
      name: 'vendor',
      credentials: { read: async () => Promise.resolve('key'), forget: () => undefined },
      clock: systemClock,
      baseUrl: vendor.url,
    },
    answerWith: (next) => (reply = next),
  };
}

/** A signal that never aborts. */
export const never = new AbortController().signal;

/** The answer of an adapter that refuses. */
export const refused = (reason: string, detail: string): object => ({ kind: 'refused', reason, detail });
