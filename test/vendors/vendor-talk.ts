/** The parts that the tests of all adapters share: jobs, and calls to the fake of a vendor. */
import {
  type FakeVendor,
  type Paint,
  pictureOf,
  type Received,
  startFakeVendor,
} from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { type ProviderName, providers } from '../../service/catalog/providers.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import {
  type AspectRatio,
  aspectRatios,
  type Resolution,
  resolutions,
} from '../../service/contract/request-fields.ts';
import { type ImageHeader, readImageHeader } from '../../service/values/image-bytes.ts';
import type {
  ImageProvider,
  ProviderAnswer,
  Refused,
  RenderJob,
  SourceImage,
  VendorSettings,
} from '../../service/vendors/provider.ts';
import { createVendors } from '../../service/vendors/vendors.ts';

/** A provider whose vendor issues a key. */
export type KeyProvider = {
  [Name in ProviderName]: (typeof providers)[Name]['credential'] extends 'key' ? Name : never;
}[ProviderName];

/** The outcome of a job. */
export interface Spoken {
  readonly answer: ProviderAnswer;
  /** The wait before each poll, as the adapter asks for it. */
  readonly waits: readonly number[];
  /** The providers whose credential must be read again. */
  readonly forgotten: readonly string[];
}

/** Replacements for the key that the fake accepts, and for the fake's address. */
interface Access {
  /** Undefined: no key is set. */
  readonly credential?: string | undefined;
  readonly baseUrl?: string;
}

interface Talk {
  readonly settings: (access?: Access) => VendorSettings;
  /**
   * Submits a job and polls it, without waiting, until it ends. `mostPolls` limits the polls of a job that
   * never ends.
   */
  readonly speak: (job: RenderJob, options?: Access & { readonly mostPolls?: number }) => Promise<Spoken>;
  /** Like `speak`, but returns only the last answer. */
  readonly answerTo: (job: RenderJob, access?: Access) => Promise<ProviderAnswer>;
}

interface Vendor {
  /** As the table of vendors names it. */
  readonly name: string;
  readonly create: (settings: VendorSettings) => ImageProvider;
  readonly fake: FakeVendor;
  /** The key that the fake accepts. */
  readonly key: string;
}

/** The answer when there is no credential, and nothing was sent. */
export const noCredential: Refused = { kind: 'refused', reason: 'credentials', detail: 'no credential' };

/** The answer when nobody listens at the address, so that surely nothing was rendered. */
export const notReached: Refused = { kind: 'refused', reason: 'unavailable', detail: 'ECONNREFUSED' };

/** Every size that the service offers, for vendors with their own names of sizes. */
export const everySize: readonly { readonly resolution: Resolution; readonly aspectRatio: AspectRatio }[] =
  resolutions.flatMap((resolution) => aspectRatios.map((aspectRatio) => ({ resolution, aspectRatio })));

/**
 * Connects the adapter of a vendor with its fake. Each job gets a new adapter, so that no job depends on
 * another.
 */
export function talkTo({ name, create, fake, key }: Vendor): Talk {
  const settingsWith = (access: Access, forgotten: string[]): VendorSettings => {
    const { credential, baseUrl } = { credential: key, baseUrl: fake.url, ...access };
    return {
      name,
      credentials: {
        read: async () => Promise.resolve(credential),
        forget: (forgottenName) => void forgotten.push(forgottenName),
      },
      clock: systemClock,
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

/** Makes ordinary jobs. A test names only the fields that it is about. */
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

/** PNG and JPEG images in turn, so that a request shows their order and their types. */
function sourcesOf(count: number): readonly SourceImage[] {
  return Array.from({ length: count }, (_, index) => {
    const format = index % 2 === 0 ? 'png' : 'jpeg';
    return { contentType: `image/${format}`, width: 96, height: 64, bytes: pictureOf(format, 96, 64) };
  });
}

/** The source images of a job as data URIs. */
export const sourceUris = (count: number): readonly string[] =>
  sourcesOf(count).map(
    ({ contentType, bytes }) => `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`,
  );

/** An address where nobody listens any more. */
export async function closedUrl(): Promise<string> {
  const closed = await startFakeVendor(() => ({ status: 500 }));
  await closed.stop();
  return closed.url;
}

/** A small picture whose header names the size. An adapter decodes no picture. */
export const headed: Paint = (format, width, height) => {
  const file = pictureOf(format, 8, 8);
  switch (format) {
    case 'png':
      file.writeUInt32BE(width, 16);
      file.writeUInt32BE(height, 20);
      return file;
    case 'jpeg': {
      const frame = file.indexOf(Buffer.from([0xff, 0xc0]));
      file.writeUInt16BE(height, frame + 5);
      file.writeUInt16BE(width, frame + 7);
      return file;
    }
    case 'webp':
      return pictureOf(format, width, height);
  }
};

/** The requests that the fake received during the work. */
export async function received(fake: FakeVendor, work: () => Promise<unknown>): Promise<readonly Received[]> {
  const before = fake.received.length;
  await work();
  return fake.received.slice(before);
}

/** The last request that the fake received. */
export function lastReceived(fake: FakeVendor): Received {
  const request = fake.received.at(-1);
  if (!request) throw new Error('nothing was received');
  return request;
}

/** Submits a job that is accepted, and gives its id. */
export async function jobIdOf(provider: ImageProvider, job: RenderJob): Promise<string> {
  const answer = await provider.submit(job, new AbortController().signal);
  if (answer.kind !== 'pending') throw new Error('the job was not accepted');
  return answer.jobId;
}

/** Makes every call that a provider has for a job. A cancellation has no answer. */
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

/** The adapters of all vendors, in the order of the providers. */
export async function everyVendor(
  access: Parameters<typeof createVendors>[0],
): Promise<readonly ImageProvider[]> {
  const vendors = createVendors(access);
  const found = await Promise.all(Object.keys(providers).map(async (name) => vendors.get(name)));
  return found.flatMap((vendor) => vendor ?? []);
}

/** The word for an answer in the tables of rows. */
export function outcomeOf(answer: ProviderAnswer): RefusalReason | 'rendered' | 'pending' {
  return answer.kind === 'refused' ? answer.reason : answer.kind;
}

/** Type and size of the rendered picture, read from its bytes. Undefined: there is no picture. */
export function headerOf(answer: ProviderAnswer): ImageHeader | undefined {
  return answer.kind === 'rendered' ? readImageHeader(answer.bytes) : undefined;
}
