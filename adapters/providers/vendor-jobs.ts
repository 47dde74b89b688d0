/**
 * What the vendors of FLUX.2 have in common: a job is accepted under an id, asked for
 * until it ends, and its picture downloaded from where the answer says.
 */
import {
  CredentialsUnreadable,
  refusedBy,
  type ProviderAnswer,
  type ProviderCredentials,
  type Refused,
  type SourceImage,
} from '../../core/provider.ts';
import { CallBroke, detailOf, unknownAnswer, type VendorHttp, type VendorResponse } from './vendor-http.ts';

/** How one poll went when the job has not ended. 'trouble': it did not come through. */
type Unended = 'working' | 'trouble';
export type PollOutcome = ProviderAnswer | Unended;

/** Milliseconds before each poll in turn; the last one from there on. */
export type Waits = readonly [number, ...number[]];

/** After a poll that broke, was throttled, or met a vendor that is down. */
const waitAfterTrouble = 5_000;

/** An answer named an address that is not the vendor's: it is not followed. */
export const foreignAddress: Refused = refusedBy('unknown_answer', 'an address of another host');

/** The job's id holds how often it was asked for, and what it takes to ask: addresses or ids, without white space. */
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

/** What `pendingJob` was given. */
export function neededFor(jobId: string): readonly string[] {
  return jobId.split(' ').slice(1);
}

/** One poll. What does not come through is asked again: the job is accepted, and whoever waits for it ends it in time. */
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
    // The job goes on whether or not its key can be read just now.
    if (error instanceof CredentialsUnreadable) return 'trouble';
    if (!(error instanceof CallBroke)) throw error;
    // A picture that is too large stays too large.
    return error.code === 'TOO_LARGE' ? refusedBy('unknown_answer', error.code) : 'trouble';
  }
}

/** Throttled or down, while a job is asked for. */
export function isTrouble({ status }: VendorResponse): boolean {
  return status === 429 || status >= 500;
}

/** The picture at the address that the vendor named; no credential goes there. */
export async function download(http: VendorHttp, url: string, signal: AbortSignal): Promise<PollOutcome> {
  if (!http.isOwn(url)) return foreignAddress;
  const response = await http.call({ method: 'GET', to: url, signal });
  if (isTrouble(response)) return 'trouble';
  if (response.status !== 200) return unknownAnswer(response, 'download');
  return response.bytes.byteLength === 0
    ? refusedBy('nothing_rendered', detailOf(response, 'empty'))
    : { kind: 'rendered', bytes: response.bytes };
}

/** Our key or our bill; undefined: neither. */
export function refusedCredentials(
  response: VendorResponse,
  credentials: ProviderCredentials,
  name: string,
): Refused | undefined {
  if (![401, 402, 403].includes(response.status)) return undefined;
  credentials.forget(name);
  return refusedBy('credentials', detailOf(response));
}

/** What the status of a submission's answer says by itself; undefined: its body has to be looked at. */
export function refusedAtOnce(
  response: VendorResponse,
  credentials: ProviderCredentials,
  name: string,
): Refused | undefined {
  if (response.status === 429 || response.status === 503) return refusedBy('unavailable', detailOf(response));
  // A server that broke down may have put the job in its queue before.
  if (response.status >= 500) return refusedBy('unknown_outcome', detailOf(response));
  return refusedCredentials(response, credentials, name);
}

export function base64Of({ bytes }: SourceImage): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

export function dataUriOf(source: SourceImage): string {
  return `data:${source.contentType};base64,${base64Of(source)}`;
}
