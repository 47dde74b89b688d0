/** What a provider's last answer means for the creation, for its record and for the operator. */
import type { CreationRecord, StoredImage } from '../../core/creation.ts';
import type { FailureName } from '../../core/failure.ts';
import type { AlarmEvent } from '../../core/metrics.ts';
import type { RefusalReason } from '../../core/provider.ts';
import { judgeImage } from '../../core/rendered-image.ts';
import type { RouteEnd } from './ask-provider.ts';

/** The failure that a refusal means for the creation. null: the next route is tried. */
const remedies: Readonly<Record<RefusalReason, FailureName | null>> = {
  prompt: 'PromptRejected',
  source_image: 'SourceImageRejected',
  failed: 'GenerationFailed',
  nothing_rendered: 'NothingRendered',
  timed_out: 'GenerationTimedOut',
  unavailable: null,
  credentials: null,
  unknown_outcome: null,
  unknown_answer: 'InternalFailure',
};

/** Refusals that an operator has to look at, each with its event in the log and the alarms. */
const alarms: Readonly<Partial<Record<RefusalReason, AlarmEvent>>> = {
  credentials: 'provider_refused_credentials',
  unknown_answer: 'provider_answer_unknown',
};

/** What the record and the log say about the end of a route. */
interface Ended {
  readonly outcome: string;
  readonly detail?: string;
  /** The event in the log that raises an alarm. */
  readonly alarm?: AlarmEvent;
}

/**
 * 'next': this route is not available, and the next one is tried. 'over': no other route would give an image
 * either.
 */
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
    case 'refused':
      return verdictOnRefusal(end.reason, end.detail);
    case 'rendered':
      return verdictOnImage(end.bytes, creation);
  }
}

function verdictOnRefusal(reason: RefusalReason, detail: string | undefined): Verdict {
  const failure = remedies[reason];
  const alarm = alarms[reason];
  const told = { ...(detail !== undefined && { detail }), ...(alarm !== undefined && { alarm }) };
  return failure === null
    ? { kind: 'next', outcome: reason, ...told }
    : { kind: 'over', outcome: failure, failure, ...told };
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
  const image = { ...judged.header, bytes: bytes.byteLength };
  const odd = judged.isOfAskedRatio
    ? {}
    : { detail: `${image.width} x ${image.height} for ${creation.aspectRatio}` };
  return { kind: 'rendered', outcome: 'rendered', image, bytes, ...odd };
}
