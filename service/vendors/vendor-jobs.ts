/** For FLUX.2: the vendor accepts a job, the adapter polls it and downloads the picture. */
import type { Micros } from '../values/money.ts';
import {
  CredentialsUnreadable,
  type ProviderAnswer,
  type ProviderCredentials,
  type Refused,
  refusedBy,
  renderedAs,
  type SourceImage,
} from './provider.ts';
import {
  CallBroke,
  detailOf,
  retryAfterOf,
  unknownAnswer,
  type VendorHttp,
  type VendorResponse,
} from './vendor-http.ts';

/** The result of a poll whose job has not ended. 'trouble': the poll itself failed. */
type Unended = 'working' | 'trouble';
export type PollOutcome = ProviderAnswer | Unended;

/** Milliseconds before each poll in turn. The last entry holds for all further polls. */
export type Waits = readonly [number, ...number[]];

/** Milliseconds after a poll that broke, was throttled, or met a vendor that was down. */
const waitAfterTrouble = 5_000;

/** An answer named an address of another host. Nothing is sent there. */
export const foreignAddress: Refused = refusedBy('unknown_answer', 'an address of another host');

/** The job's id holds the number of polls and what a poll needs, separated by spaces. */
export function pendingJob(
  waits: Waits,
  needed: readonly string[],
  polls = 0,
  isTrouble = false,
): ProviderAnswer {
  if (needed.some((text) => text === '' || /\s/.test(text)))
    return refusedBy('unknown_answer', 'a job id of an unknown form');
  const wait = waits[Math.min(polls, waits.length - 1)] ?? waits[0];
  return {
    kind: 'pending',
    jobId: [polls, ...needed].join(' '),
    pollAfterMillis: isTrouble ? Math.max(wait, waitAfterTrouble) : wait,
  };
}

export function neededFor(jobId: string): readonly string[] {
  return jobId.split(' ').slice(1);
}

/** One poll. A failed poll is made again, until the deadline: the vendor has accepted the job. */
export async function polling(
  jobId: string,
  waits: Waits,
  ask: (...needed: readonly string[]) => Promise<PollOutcome>,
): Promise<ProviderAnswer> {
  const needed = neededFor(jobId);
  const outcome = await unbroken(() => ask(...needed));
  if (typeof outcome !== 'string') return outcome;
  return pendingJob(waits, needed, Number.parseInt(jobId, 10) + 1, outcome === 'trouble');
}

async function unbroken(ask: () => Promise<PollOutcome>): Promise<PollOutcome> {
  try {
    return await ask();
  } catch (error) {
    // The vendor renders on, even if our key cannot be read at the moment.
    if (error instanceof CredentialsUnreadable) return 'trouble';
    if (!(error instanceof CallBroke)) throw error;
    // Another download would be too large again, and must not go to that address either.
    return ['TOO_LARGE', 'ADDRESS_REFUSED'].includes(error.code)
      ? refusedBy('unknown_answer', error.code)
      : 'trouble';
  }
}

export function isTrouble({ status }: VendorResponse): boolean {
  return status === 429 || status >= 500;
}

/** Downloads the picture without our key. @param billedMicros what the answer says it costs */
export async function download(
  http: VendorHttp,
  url: string,
  signal: AbortSignal,
  billedMicros?: Micros,
): Promise<PollOutcome> {
  if (!http.isOwn(url)) return foreignAddress;
  const response = await http.call({ method: 'GET', to: url, signal });
  if (isTrouble(response)) return 'trouble';
  if (response.status !== 200) return unknownAnswer(response, 'download');
  return response.bytes.byteLength === 0
    ? refusedBy('nothing_rendered', detailOf(response, 'empty'))
    : renderedAs(response.bytes, billedMicros);
}

/** A refusal of our key or for our bill. Undefined: the answer is neither. */
export function refusedCredentials(
  response: VendorResponse,
  credentials: ProviderCredentials,
  name: string,
): Refused | undefined {
  if (![401, 402, 403].includes(response.status)) return undefined;
  credentials.forget(name);
  return refusedBy('credentials', detailOf(response));
}

/** A refusal that the status of a submission proves. Undefined: the body of the answer decides. */
export function refusedAtOnce(
  response: VendorResponse,
  credentials: ProviderCredentials,
  name: string,
): Refused | undefined {
  if (response.status === 429 || response.status === 503)
    return refusedBy('unavailable', detailOf(response), retryAfterOf(response));
  // The server may have queued the job before it failed.
  if (response.status >= 500) return refusedBy('unknown_outcome', detailOf(response));
  return refusedCredentials(response, credentials, name);
}

export function base64Of({ bytes }: SourceImage): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

export function dataUriOf(source: SourceImage): string {
  return `data:${source.contentType};base64,${base64Of(source)}`;
}
