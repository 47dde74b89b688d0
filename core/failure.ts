/**
 * The ways in which a creation fails (interface.md, part 7). The name is what the
 * state machine's graph shows; the message is the client's, word for word.
 */

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
  /** 1 to 7, its place in the interface's table. */
  readonly number: number;
  readonly message: string;
  /** Whether the same request may succeed when sent again. */
  readonly retryable: boolean;
}

export const failures: Readonly<Record<FailureName, Failure>> = {
  PromptRejected: {
    number: 1,
    message:
      'Prompt rejected by the safety filter. Make the scene more specific — abstract or generic prompts are declined more often.',
    retryable: false,
  },
  SourceImageRejected: {
    number: 2,
    message: 'The source image was rejected. Try a different photo.',
    retryable: false,
  },
  GenerationFailed: { number: 3, message: 'Generation failed. Please try again.', retryable: true },
  NothingRendered: {
    number: 4,
    message:
      'Nothing was rendered for this request. Describe the image you want in the prompt, or attach the source photo it refers to.',
    retryable: true,
  },
  GenerationTimedOut: { number: 5, message: 'Generation timed out.', retryable: true },
  ServiceUnavailable: {
    number: 6,
    message: 'The service is temporarily unavailable. Please try again later.',
    retryable: true,
  },
  InternalFailure: { number: 7, message: 'Generation failed.', retryable: true },
};

/** The failure an error's name stands for; everything unknown, a dead invocation included, is ours: message 7. */
export function failureNamed(errorName: string): FailureName {
  return failureNames.find((name) => name === errorName) ?? 'InternalFailure';
}

/**
 * A failure on its way through the state machine. Its text is fixed: it enters the
 * execution's history, where nothing of a prompt or a provider's answer may stand.
 */
export class CreationFailed extends Error {
  readonly failure: FailureName;
  constructor(failure: FailureName) {
    super(failures[failure].message);
    this.name = failure;
    this.failure = failure;
  }
}
