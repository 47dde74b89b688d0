/** How an adapter's test talks to its vendor's fake: what is the same whichever vendor it is. */
import type { VendorSettings } from '../../../adapters/providers/vendor.ts';
import { readImageHeader, type ImageHeader } from '../../../core/image-bytes.ts';
import { aspectRatios, resolutions, type AspectRatio, type Resolution } from '../../../core/image-formats.ts';
import type {
  ImageProvider,
  ProviderAnswer,
  Refused,
  RefusalReason,
  RenderJob,
  SourceImage,
} from '../../../core/provider.ts';
import { startFakeVendor, type FakeVendor, type Received } from '../../../tools/vendors/fakes/fake-vendor.ts';
import { pictureOf } from '../../../tools/vendors/fakes/pictures.ts';

/** What came of a job. */
export interface Spoken {
  readonly answer: ProviderAnswer;
  /** How long the adapter would have had us wait before each poll. */
  readonly waits: readonly number[];
  /** The providers whose credential is to be read anew. */
  readonly forgotten: readonly string[];
}

/** What is other than usual: the key that the fake takes, and the fake's address. */
interface Access {
  /** Undefined: none is set. */
  readonly credential?: string | undefined;
  readonly baseUrl?: string;
}

interface Talk {
  readonly settings: (access?: Access) => VendorSettings;
  /** Submits, and polls without waiting until the job ends; `mostPolls` is for a job that never does. */
  readonly speak: (job: RenderJob, options?: Access & { readonly mostPolls?: number }) => Promise<Spoken>;
  /** `speak`, where nothing but the last answer matters. */
  readonly answerTo: (job: RenderJob, access?: Access) => Promise<ProviderAnswer>;
}

interface Vendor {
  /** As the table of vendors names it. */
  readonly name: string;
  readonly create: (settings: VendorSettings) => ImageProvider;
  readonly fake: FakeVendor;
  /** That the fake takes. */
  readonly key: string;
}

/** Whatever the vendor calls it: nothing was sent, for want of a credential. */
export const noCredential: Refused = { kind: 'refused', reason: 'credentials', detail: 'no credential' };

/** Surely nothing was rendered where nobody listened, so that the next route may try. */
export const notReached: Refused = { kind: 'refused', reason: 'unavailable', detail: 'ECONNREFUSED' };

/** All that the service offers, for vendors that name sizes in their own way. */
export const everySize: readonly { readonly resolution: Resolution; readonly aspectRatio: AspectRatio }[] =
  resolutions.flatMap((resolution) => aspectRatios.map((aspectRatio) => ({ resolution, aspectRatio })));

/** The adapter and the fake of a vendor, with a new adapter for each job: none learns from the job before. */
export function talkTo({ name, create, fake, key }: Vendor): Talk {
  const settingsWith = (access: Access, forgotten: string[]): VendorSettings => {
    const { credential, baseUrl } = { credential: key, baseUrl: fake.url, ...access };
    return {
      name,
      credentials: {
        read: async () => Promise.resolve(credential),
        forget: (forgottenName) => void forgotten.push(forgottenName),
      },
      baseUrl,
    };
  };
  const speak: Talk['speak'] = async (job, { mostPolls = Infinity, ...access } = {}) => {
    const forgotten: string[] = [];
    const provider = create(settingsWith(access, forgotten));
    const { signal } = new AbortController();
    const waits: number[] = [];
    let answer = await provider.submit(job, signal);
    while (answer.kind === 'pending' && provider.poll && waits.length < mostPolls) {
      waits.push(answer.pollAfterMillis);
      answer = await provider.poll(answer.jobId, job, signal);
    }
    return { answer, waits, forgotten };
  };
  return {
    settings: (access = {}) => settingsWith(access, []),
    speak,
    answerTo: async (job, access) => (await speak(job, access)).answer,
  };
}

/** Makes jobs that are as ordinary as the vendor allows: what a test is about, it names itself. */
export function jobsLike(
  ordinary: Pick<RenderJob, 'providerModel'> & Partial<RenderJob>,
): (change?: Partial<RenderJob>) => RenderJob {
  return (change = {}) => {
    const asked = { ...ordinary, ...change };
    const sourceCount = asked.sourceCount ?? 0;
    const readSources = async (): Promise<readonly SourceImage[]> => Promise.resolve(sourcesOf(sourceCount));
    return {
      prompt: 'a cat',
      resolution: '1K',
      aspectRatio: '1:1',
      outputFormat: 'png',
      seed: null,
      sourceCount,
      readSources,
      ...asked,
    };
  };
}

/** PNG and JPEG by turns, so that their order and their types show in a request. */
function sourcesOf(count: number): readonly SourceImage[] {
  return Array.from({ length: count }, (_, index) => {
    const format = index % 2 === 0 ? 'png' : 'jpeg';
    return { contentType: `image/${format}`, width: 96, height: 64, bytes: pictureOf(format, 96, 64) };
  });
}

/** Where nobody listens any more. */
export async function closedUrl(): Promise<string> {
  const closed = await startFakeVendor(() => ({ status: 500 }));
  await closed.stop();
  return closed.url;
}

/** What the fake was asked while the work was done. */
export async function received(fake: FakeVendor, work: () => Promise<unknown>): Promise<readonly Received[]> {
  const before = fake.received.length;
  await work();
  return fake.received.slice(before);
}

/** What the fake was asked last, by a vendor that is asked once a job. */
export function lastReceived(fake: FakeVendor): Received {
  const request = fake.received.at(-1);
  if (!request) throw new Error('nothing was received');
  return request;
}

/** Asks a provider for all that it can do with a job; a cancellation has no answer. */
export async function everyCall(
  provider: ImageProvider,
  job: RenderJob,
  jobId: string,
): Promise<readonly (ProviderAnswer | undefined)[]> {
  const { signal } = new AbortController();
  const answers = [await provider.submit(job, signal), await provider.poll?.(jobId, job, signal)];
  await provider.cancel?.(jobId, job, signal);
  return answers;
}

/** The word by which the tables of rows know an answer. */
export function outcomeOf(answer: ProviderAnswer): RefusalReason | 'rendered' | 'pending' {
  return answer.kind === 'refused' ? answer.reason : answer.kind;
}

/** Type and size of the rendered picture, by its bytes; undefined where there is none. */
export function headerOf(answer: ProviderAnswer): ImageHeader | undefined {
  return answer.kind === 'rendered' ? readImageHeader(answer.bytes) : undefined;
}
