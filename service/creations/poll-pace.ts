/**
 * When a client should poll an open creation again: the header Retry-After of GET /creations/{id}.
 *
 * The running attempt knows how long its route usually takes. Before that time, a client waits for half of what is
 * left, so that an image that comes early is not missed for long. Around that time it polls every one or two
 * seconds. Later, and where no usual time is known, the polls become rarer the longer the creation takes.
 */
import { pollPace } from '../contract/limits.ts';
import type { CreationRecord, RouteAttempt } from './creation.ts';

interface Polled extends Pick<CreationRecord, 'createdAt' | 'deadlineAt'> {
  readonly attempts: readonly Pick<RouteAttempt, 'outcome' | 'startedAt' | 'usualMillis'>[];
}

/** Whole seconds: at least 1, because a faster poll is refused, and no long wait beyond the deadline. */
export function nextPollSeconds(creation: Polled, nowMillis: number): number {
  const left = Math.ceil((creation.deadlineAt - nowMillis) / 1000);
  return Math.floor(Math.min(wishedSeconds(creation, nowMillis), Math.max(left, pollPace.usual)));
}

function wishedSeconds({ attempts, createdAt }: Polled, nowMillis: number): number {
  const running = attempts.at(-1);
  if (running?.outcome !== undefined || running?.usualMillis === undefined)
    return within(pollPace.usual, (nowMillis - Date.parse(createdAt)) / 6_000, pollPace.late);
  const { startedAt, usualMillis } = running;
  const near = usualMillis < pollPace.shortMillis ? pollPace.least : pollPace.usual;
  const untilUsual = Date.parse(startedAt) + usualMillis - nowMillis;
  return untilUsual > 0
    ? within(near, untilUsual / 2_000, pollPace.most)
    : within(near, -untilUsual / 3_000, pollPace.late);
}

function within(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
