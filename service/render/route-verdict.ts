/** What a provider's last answer means for the creation, for its record and for the operator. */
import type { FailureName, RefusalReason } from '../contract/failures.ts';
import type { AspectRatio, OutputFormat } from '../contract/request-fields.ts';
import { isPassing, outcomeOf, type RouteOutcome } from '../contract/route-outcome.ts';
import { isOfRatio } from '../creations/aspect-ratio.ts';
import { readContentCredentials } from '../creations/content-credentials.ts';
import type { CreationRecord, StoredImage } from '../creations/creation.ts';
import { type ImageHeader, readImageHeader } from '../values/image-bytes.ts';
import type { Refused } from '../vendors/provider.ts';
import type { RouteEnd } from './route-end.ts';

// The check of the bytes that a provider sent, before the creation may become completed.

export type RenderedImage =
  | { readonly kind: 'good'; readonly header: ImageHeader; readonly isOfAskedRatio: boolean }
  | { readonly kind: 'unusable'; readonly detail: string };

/** Judges the bytes. Another type is unusable; another ratio is reported to client and operator. */
export function judgeImage(
  bytes: Uint8Array,
  asked: { readonly outputFormat: OutputFormat; readonly aspectRatio: AspectRatio },
): RenderedImage {
  const header = readImageHeader(bytes);
  if (!header) return { kind: 'unusable', detail: `no image in ${bytes.byteLength} bytes` };
  if (header.contentType !== `image/${asked.outputFormat}`)
    return { kind: 'unusable', detail: `${header.contentType} instead of ${asked.outputFormat}` };
  return { kind: 'good', header, isOfAskedRatio: isOfRatio(header, asked.aspectRatio) };
}

type VerdictAlarm = 'provider_refused_credentials' | 'provider_answer_unknown';

/** Refusals that need an operator, each with its event in the log and the alarms. */
const alarms: Readonly<Partial<Record<RefusalReason, VerdictAlarm>>> = {
  credentials: 'provider_refused_credentials',
  unknown_answer: 'provider_answer_unknown',
};

interface Ended {
  readonly outcome: RouteOutcome;
  readonly detail?: string;
  readonly alarm?: VerdictAlarm;
}

/** 'next': this route is not available. 'over': no other route would give an image either. */
export type Verdict = Ended &
  (
    | { readonly kind: 'next' }
    | { readonly kind: 'over'; readonly failure: FailureName }
    | { readonly kind: 'rendered'; readonly image: Omit<StoredImage, 'key'>; readonly bytes: Uint8Array }
  );

export function verdictOf(end: RouteEnd, creation: CreationRecord): Verdict {
  switch (end.kind) {
    case 'no_answer':
      return { kind: 'next', outcome: 'no_answer' };
    case 'not_honoured':
      return { kind: 'next', outcome: 'not_honoured', detail: end.detail, alarm: 'provider_answer_unknown' };
    case 'refused':
      return verdictOnRefusal(end, creation);
    case 'rendered':
      return verdictOnImage(end.bytes, creation);
  }
}

/** A stopped job ends the creation only if its cancel was not withdrawn. Otherwise the creation continues. */
function verdictOnRefusal({ reason, detail }: Refused, { cancelRequestedAt }: CreationRecord): Verdict {
  const alarm = alarms[reason];
  const facts = { ...(detail !== undefined && { detail }), ...(alarm !== undefined && { alarm }) };
  if (reason === 'cancelled' && cancelRequestedAt !== undefined)
    return { kind: 'over', outcome: 'cancelled', failure: 'InternalFailure', ...facts };
  const outcome = outcomeOf(reason);
  if (isPassing(outcome)) return { kind: 'next', outcome, ...facts };
  return { kind: 'over', outcome, failure: outcome, ...facts };
}

function verdictOnImage(bytes: Uint8Array, creation: CreationRecord): Verdict {
  const judged = judgeImage(bytes, creation);
  if (judged.kind === 'unusable') {
    return {
      kind: 'over',
      outcome: 'InternalFailure',
      failure: 'InternalFailure',
      detail: judged.detail,
      alarm: 'provider_answer_unknown',
    };
  }
  const image = {
    ...judged.header,
    bytes: bytes.byteLength,
    contentCredentials: readContentCredentials(bytes, judged.header.contentType),
  };
  const odd = judged.isOfAskedRatio
    ? {}
    : { detail: `${image.width} x ${image.height} for ${creation.aspectRatio}` };
  return { kind: 'rendered', outcome: 'rendered', image, bytes, ...odd };
}
