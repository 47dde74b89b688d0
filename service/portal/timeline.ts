/** The life of a creation, step by step, in words for its client. */
import { failures } from '../contract/failures.ts';
import type { TimelineStep } from '../contract/portal-views.ts';
import type { RouteOutcome } from '../contract/route-outcome.ts';
import type { CreationRecord, RouteAttempt } from '../creations/creation.ts';
import { toUsd } from '../values/money.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import { deliveryRow } from './delivery-view.ts';

type Step = Omit<TimelineStep, 'ms'>;

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];

/** How an attempt ended. A refusal in the words of a vendor would name the vendor. */
const ended: Readonly<Record<RouteOutcome, string>> = {
  rendered: 'delivered an image',
  no_answer: 'did not answer in time',
  cancelled: 'stopped the work on request',
  unavailable: 'was not available',
  credentials: 'was not available',
  unknown_outcome: 'broke off without an answer',
  not_honoured: 'gave another picture than was asked for',
  PromptRejected: 'rejected the prompt',
  SourceImageRejected: 'rejected the source image',
  GenerationFailed: 'failed',
  NothingRendered: 'rendered nothing',
  GenerationTimedOut: 'did not answer in time',
  ServiceUnavailable: 'was not available',
  InternalFailure: 'failed',
};

export function timelineOf(
  creation: CreationRecord,
  deliveries: readonly Delivery[],
  keyName: string,
): TimelineStep[] {
  const steps = [
    ...accepted(creation, keyName),
    ...creation.attempts.flatMap((attempt) => attempted(attempt, nameOf(attempt, creation))),
    ...endOf(creation),
    ...deliveries.map(delivered),
  ];
  // The sort is stable, so that steps of the same time stay in this order.
  const inOrder = steps.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
  return inOrder.map((step, place) => ({ ...step, ms: millisSince(inOrder[place - 1], step) }));
}

function millisSince(before: Step | undefined, step: Step): number | null {
  return before ? Date.parse(step.at) - Date.parse(before.at) : null;
}

function accepted({ createdAt, startedAt, costMicros }: CreationRecord, keyName: string): Step[] {
  return [
    { at: createdAt, kind: 'accepted', text: 'Accepted, and waits for a renderer.' },
    {
      at: createdAt,
      kind: 'charged',
      text: `Charged to the key “${keyName}”.`,
      amount: 0 - toUsd(costMicros),
    },
    ...(startedAt === undefined
      ? []
      : [{ at: startedAt, kind: 'rendering', text: 'Rendering began.' } as const]),
  ];
}

/** Each route has its number, by the order in which the creation came to it. */
function nameOf(attempt: RouteAttempt, { attempts }: CreationRecord): string {
  const routes = [...new Set(attempts.map(routeOf))];
  const place = routes.indexOf(routeOf(attempt));
  return `The ${ordinals[place] ?? `${place + 1}th`} renderer`;
}

function routeOf({ provider, providerModel, quality }: RouteAttempt): string {
  return `${provider} ${providerModel} ${quality ?? ''}`;
}

function attempted({ startedAt, endedAt, outcome }: RouteAttempt, name: string): Step[] {
  return [
    { at: startedAt, kind: 'attempt', text: `${name} was asked.` },
    ...(endedAt === undefined || outcome === undefined
      ? []
      : [{ at: endedAt, kind: 'attempt', text: `${name} ${ended[outcome]}.` } as const]),
  ];
}

function endOf(creation: CreationRecord): Step[] {
  const { completedAt: at, failure, cancelledAt, refundedMicros } = creation;
  if (at === undefined) return [];
  if (failure === undefined) {
    return [
      { at, kind: 'stored', text: 'The image was stored.' },
      { at, kind: 'completed', text: 'Completed.' },
    ];
  }
  const { message, retryable } = failures[failure];
  const advice = retryable
    ? 'The same request may succeed when it is sent again.'
    : 'The same request will fail again: change it first.';
  return [
    cancelledAt === undefined
      ? { at, kind: 'failed', text: `${message} ${advice}` }
      : { at, kind: 'cancelled', text: 'Cancelled.' },
    ...(refundedMicros > 0
      ? [{ at, kind: 'refunded', text: 'The charge was given back.', amount: toUsd(refundedMicros) } as const]
      : []),
  ];
}

function delivered(delivery: Delivery): Step {
  const row = deliveryRow(delivery);
  const how = {
    delivered: `was delivered to ${row.host}`,
    failed: `was not delivered to ${row.host}: ${row.reason ?? 'nobody knows why.'}`,
    unknown: `began; nobody knows how it ended`,
  }[row.outcome];
  const text = `Attempt ${row.attempt} of ${row.of} of the webhook ${how}`;
  return { at: row.at, kind: 'webhook', text: text.endsWith('.') ? text : `${text}.`, delivery: row };
}
