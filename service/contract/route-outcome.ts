import { type FailureName, failureNames, type RefusalReason } from './failures.ts';

/**
 * How an attempt can end: an image, out of time, stopped, the next route, or a failed creation. not_honoured: a picture
 * without what the request asked for, which is never delivered.
 */
export const routeOutcomes = [
  'rendered',
  'no_answer',
  'cancelled',
  'unavailable',
  'credentials',
  'unknown_outcome',
  'not_honoured',
  ...failureNames,
] as const;
export type RouteOutcome = (typeof routeOutcomes)[number];

/** Refusals after which the next route is tried. Their outcome has the same name. */
export type PassingRefusal = 'unavailable' | 'credentials' | 'unknown_outcome' | 'cancelled';

const failureOf: Readonly<Record<Exclude<RefusalReason, PassingRefusal>, FailureName>> = {
  prompt: 'PromptRejected',
  source_image: 'SourceImageRejected',
  failed: 'GenerationFailed',
  nothing_rendered: 'NothingRendered',
  timed_out: 'GenerationTimedOut',
  unknown_answer: 'InternalFailure',
};

export function outcomeOf(reason: RefusalReason): PassingRefusal | FailureName {
  return isPassing(reason) ? reason : failureOf[reason];
}

export function isPassing(reason: string): reason is PassingRefusal {
  return ['unavailable', 'credentials', 'unknown_outcome', 'cancelled'].includes(reason);
}

/** Who caused the end of an attempt. 'nobody': the job was stopped on request, or gave an image. */
const causes: Readonly<Record<RouteOutcome, 'provider' | 'request' | 'service' | 'nobody'>> = {
  rendered: 'nobody',
  no_answer: 'provider',
  cancelled: 'nobody',
  unavailable: 'provider',
  credentials: 'provider',
  unknown_outcome: 'provider',
  not_honoured: 'provider',
  // The vendor works, and declined what the client sent.
  PromptRejected: 'request',
  SourceImageRejected: 'request',
  GenerationFailed: 'provider',
  NothingRendered: 'provider',
  GenerationTimedOut: 'provider',
  ServiceUnavailable: 'service',
  InternalFailure: 'service',
};

/** Whether an end is a failure of the provider, for the operator's figures and a route's health. */
export function isProvidersFailure(outcome: RouteOutcome): boolean {
  return causes[outcome] === 'provider';
}

/** Whether the vendor declined what the client sent. */
export function isClientsFault(outcome: RouteOutcome): boolean {
  return causes[outcome] === 'request';
}
