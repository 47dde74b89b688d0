/** The ways in which a creation fails, with the message that the client gets (docs/api.md). */

export const failureNames = [
  'PromptRejected',
  'SourceImageRejected',
  'GenerationFailed',
  'NothingRendered',
  'GenerationTimedOut',
  'ServiceUnavailable',
  'InternalFailure',
] as const;

export type FailureName = (typeof failureNames)[number];

export interface Failure {
  /** 1 to 7: the row of the failure in the table of docs/api.md. */
  readonly number: number;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export const failures: Readonly<Record<FailureName, Failure>> = {
  PromptRejected: {
    number: 1,
    code: 'prompt_rejected',
    message:
      'Prompt rejected by the safety filter. Make the scene more specific — abstract or generic prompts are declined more often.',
    retryable: false,
  },
  SourceImageRejected: {
    number: 2,
    code: 'image_rejected',
    message: 'The source image was rejected. Try a different photo.',
    retryable: false,
  },
  GenerationFailed: {
    number: 3,
    code: 'generation_failed',
    message: 'Generation failed. Please try again.',
    retryable: true,
  },
  NothingRendered: {
    number: 4,
    code: 'nothing_rendered',
    message:
      'Nothing was rendered for this request. Describe the image you want in the prompt, or attach the source photo it refers to.',
    retryable: true,
  },
  GenerationTimedOut: {
    number: 5,
    code: 'timed_out',
    message: 'Generation timed out.',
    retryable: true,
  },
  ServiceUnavailable: {
    number: 6,
    code: 'provider_unavailable',
    message: 'The service is temporarily unavailable. Please try again later.',
    retryable: true,
  },
  InternalFailure: { number: 7, code: 'internal', message: 'Generation failed.', retryable: true },
};

/** A cancelled creation has the message of InternalFailure. */
export const cancelledCode = 'cancelled';

/** Why a creation failed, as its client reads it. Undefined when the creation has not failed. */
export function shownFailure(creation: { readonly failure?: FailureName; readonly cancelledAt?: string }) {
  if (creation.failure === undefined) return undefined;
  const { code, message, retryable } = failures[creation.failure];
  return { error: message, error_code: creation.cancelledAt === undefined ? code : cancelledCode, retryable };
}

/** The names by which Step Functions reports that a Task, and so the creation, took too long. */
const timeOuts = ['States.Timeout', 'States.HeartbeatTimeout'];

/** The failure of this name. A time-out is GenerationTimedOut, any other error InternalFailure. */
export function failureNamed(errorName: string): FailureName {
  if (timeOuts.includes(errorName)) return 'GenerationTimedOut';
  return failureNames.find((name) => name === errorName) ?? 'InternalFailure';
}

/** Carries a failure through the state machine. Its message is fixed, as the history keeps it. */
export class CreationFailed extends Error {
  readonly failure: FailureName;
  constructor(failure: FailureName) {
    super(failures[failure].message);
    this.name = failure;
    this.failure = failure;
  }
}

/** Why a provider gave no image. render/route-verdict.ts decides what follows from each reason. */
export type RefusalReason =
  | 'prompt'
  | 'source_image'
  | 'failed'
  | 'nothing_rendered'
  /** The vendor's own time limit ended the job. */
  | 'timed_out'
  /** The vendor has stopped the job, because we asked for that or because of a limit of the vendor. */
  | 'cancelled'
  /** The vendor is down or throttles us, and certainly does not work on the job: the next route is tried. */
  | 'unavailable'
  /** The vendor refused our key or wants to be paid: the next route is tried, and an alarm is logged. */
  | 'credentials'
  /** The call broke after the vendor may have accepted the job: the next route is tried instead. */
  | 'unknown_outcome'
  /** The adapter does not know this answer. */
  | 'unknown_answer';
