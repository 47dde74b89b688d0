import { failureNames } from './failure.ts';

/**
 * How an attempt at a route can end, as the record, the log and the metric ProviderAnswers tell it: with an
 * image, without an answer in time, with a job that the vendor stopped, with a refusal after which the next
 * route is tried, or with a failure of the creation.
 */
export const routeOutcomes = [
  'rendered',
  'no_answer',
  'cancelled',
  'unavailable',
  'credentials',
  'unknown_outcome',
  ...failureNames,
] as const;
export type RouteOutcome = (typeof routeOutcomes)[number];
