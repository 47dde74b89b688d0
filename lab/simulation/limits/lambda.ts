/**
 * How fast Lambda adds environments, beside the quotas in admin/preflight/quotas. Source: the Lambda developer guide, "Lambda
 * scaling behavior".
 */
export const lambdaLimits = {
  /**
   * The number of further environments that one function gets in a number of seconds, refilled continuously.
   */
  scaling: { environments: 1_000, seconds: 10 },
  /** AWS does not promise how long it keeps an idle environment. Assumption. */
  idleMillis: 300_000,
  /** The start of a new environment with a bundle of some 350 KB. Assumption. */
  coldStartMillis: 350,
  /** EventBridge's invocations wait inside of Lambda when they are throttled: first so long, and at most so long. */
  asynchronousRetryMillis: { first: 1_000, longest: 300_000 },
} as const;
