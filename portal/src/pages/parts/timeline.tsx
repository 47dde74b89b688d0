/** The life of a creation, step by step. */
import type { TimelineStep } from '../../../../service/contract/portal-views.ts';
import { href } from '../../router.ts';
import { Money, Time, type Tone } from '../../ui/basics.tsx';
import { durationText } from '../../words/time.ts';

const tones: Readonly<Record<TimelineStep['kind'], Tone>> = {
  accepted: 'calm',
  charged: 'calm',
  rendering: 'busy',
  attempt: 'busy',
  stored: 'calm',
  completed: 'good',
  failed: 'bad',
  cancelled: 'calm',
  refunded: 'calm',
  webhook: 'calm',
};

const toneOf = ({ kind, delivery }: TimelineStep): Tone =>
  delivery
    ? delivery.outcome === 'delivered'
      ? 'good'
      : delivery.outcome === 'failed'
        ? 'bad'
        : 'warn'
    : tones[kind];

export function Timeline({ steps }: { steps: readonly TimelineStep[] }) {
  return (
    <ol class="timeline">
      {steps.map((step, index) => (
        <li key={`${step.at} ${index}`} class={toneOf(step)}>
          <div>
            <p>
              {step.delivery ? (
                <a href={href(`/deliveries/${encodeURIComponent(step.delivery.id)}`)}>{step.text}</a>
              ) : (
                step.text
              )}
              {step.amount !== undefined && (
                <>
                  {' '}
                  <Money of={step.amount} signed />
                </>
              )}
            </p>
            {step.delivery?.reason !== undefined && step.delivery.reason !== null && (
              <p class="dim">{step.delivery.reason}</p>
            )}
          </div>
          <p class="when">
            {step.ms !== null && <span>+{durationText(step.ms)}</span>}
            <span class="dim">
              <Time at={step.at} form="full" />
            </span>
          </p>
        </li>
      ))}
    </ol>
  );
}
