/**
 * How a callback can end: the status that the vendor gets, and what the log says. A vendor repeats a callback
 * after 503 and gives it up after every other status. The body of the answer says no more than the status,
 * because anybody may ask.
 */
export const callbackOutcomes = {
  /** The creation is completed, and the execution continues. */
  completed: 200,
  /** The job gave no image. The execution continues with the next route, or fails the creation. */
  route_ended: 200,
  /** The creation was terminal before, or a later route has replaced this job. */
  late: 200,
  /** The signature, its time or the account of the vendor is wrong. */
  refused: 401,
  /** No provider that calls back, no such creation, or no attempt with this capability. */
  unknown: 404,
  /** A genuine callback for another job than the attempt's. */
  other_job: 404,
  /** More than 32 lists and objects inside each other. */
  too_deep: 400,
  too_large: 413,
  /** The job's id is not in the record yet. */
  too_early: 503,
  /** This code does not understand the creation. The vendor repeats its callback, or the heartbeat looks later. */
  newer_release: 503,
  /** The vendor's keys could not be read. */
  unverifiable: 503,
  /** Another invocation works on the creation. */
  leased: 503,
  /** The vendor itself says that the job has not ended, or did not say anything in time. */
  pending: 503,
  /** The image could not be stored, or the table was too busy. */
  busy: 503,
  /** Everything is recorded, but no answer says that the execution continues. */
  task_unclear: 503,
  broke: 503,
} as const;

export type CallbackOutcome = keyof typeof callbackOutcomes;
