import type { CreationDetail, TimelineStep } from '../../../service/contract/portal-views.ts';
import { capitalized, plainRows } from '../../../service/contract/request-fields.ts';
import { useAction, useResource } from '../api/hooks.ts';
import { useOpenCreations } from '../api/open-creations.ts';
import { href } from '../router.ts';
import { useMay, useSession } from '../session.tsx';
import { Button, Card, Code, Copy, Facts, Id, Money, Time, type Tone } from '../ui/basics.tsx';
import { announce, Page } from '../ui/page.tsx';
import { Failed, Loaded } from '../ui/states.tsx';
import { durationText } from '../words/figures.ts';
import { curlOf } from '../words/snippets.ts';
import { Result } from './gallery/picture.tsx';
import { CreationState, Expiry } from './parts/creation-table.tsx';

/** The life of a creation, step by step. */
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

function Timeline({ steps, isOperated }: { steps: readonly TimelineStep[]; isOperated: boolean }) {
  return (
    <ol class="timeline">
      {steps.map((step, index) => (
        <li key={`${step.at} ${index}`} class={toneOf(step)}>
          <div>
            <p>
              {step.delivery && !isOperated ? (
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

export function Creation({ id }: { id: string }) {
  const creation = useResource('getPortalCreation', { id });
  const { data, reload } = creation;
  const mayAct = useMay('cancelPortalCreation');
  const cancel = useAction('cancelPortalCreation', () => {
    announce('The creation is cancelled, and its price is refunded.');
    reload();
  });
  const redeliver = useAction('redeliverCreation', () => {
    announce('The webhook is delivered again.');
    reload();
  });
  useOpenCreations(data ? [data] : [], creation.set);
  return (
    <Page
      title="Creation"
      above={<a href={href('/creations')}>Creations</a>}
      lead={<Id of={id} label="the id of the creation" />}
      actions={
        data &&
        mayAct && (
          <>
            {data.can_cancel && (
              <Button text="Cancel" isBusy={cancel.isBusy} onClick={() => cancel.run({ id })} />
            )}
            {data.can_redeliver && (
              <Button
                text="Redeliver the webhook"
                isBusy={redeliver.isBusy}
                onClick={() => redeliver.run({ id })}
              />
            )}
            <a class="button" href={href(`/playground?from=${id}`)}>
              Use again
            </a>
          </>
        )
      }
    >
      {cancel.error && <Failed error={cancel.error} />}
      {redeliver.error && <Failed error={redeliver.error} />}
      <Loaded of={creation}>{(shown) => <CreationContent of={shown} />}</Loaded>
    </Page>
  );
}

/** @param isOperated true: of an account that is not that of the session, so its deliveries have no page */
export function CreationContent({ of, isOperated = false }: { of: CreationDetail; isOperated?: boolean }) {
  const { me } = useSession();
  return (
    <div class="halves">
      <div>
        <Results of={of} />
        <Card title="Request">
          <Facts
            rows={[
              [
                'Prompt',
                <span class="text" dir="auto">
                  {of.prompt ?? <span class="dim">none</span>}
                </span>,
              ],
              ['Model', of.model],
              ['Size', `${of.resolution}, ${of.aspect_ratio}, ${of.output_format}`],
              ...plainRows.map(
                ([name]) => (of[name] ?? null) !== null && ([capitalized(name), of[name]] as const),
              ),
              of.source_images > 0 && ['Source images', of.source_images],
              of.user !== null && ['User', of.user],
              ['Key', of.key.name],
              of.webhook_url !== null && ['Webhook', <span class="url">{of.webhook_url}</span>],
              of.copy !== undefined && [
                'Copy',
                <span class="url">{of.copy.url ?? of.copy.error ?? of.copy.status}</span>,
              ],
            ]}
          />
          {Object.keys(of.metadata).length > 0 && (
            <Code text={JSON.stringify(of.metadata, null, 2)} label="the metadata" />
          )}
          <details>
            <summary>As curl</summary>
            <Code text={curlOf(me.service.api_url, 'YOUR_KEY', of.request)} label="the request as curl" />
          </details>
        </Card>
      </div>
      <div>
        <Card>
          <Facts
            rows={[
              ['State', <CreationState of={of} />],
              [
                'Cost',
                <>
                  <Money of={of.cost} />
                  {of.amount_refunded > 0 && (
                    <>
                      , refunded <Money of={of.amount_refunded} />
                    </>
                  )}
                </>,
              ],
              ['Created', <Time at={of.created_at} form="full" />],
              of.completed_at !== null && ['Ended', <Time at={of.completed_at} form="full" />],
            ]}
          />
          {of.error !== null && (
            <div class="notice bad">
              <p>
                {of.error} <code>{of.error_code}</code>
              </p>
              {of.retryable !== null && (
                <p class="help">
                  {of.retryable
                    ? 'The same request may succeed: send it again.'
                    : 'The same request would fail again: change it.'}
                </p>
              )}
            </div>
          )}
        </Card>
        <Card title="Timeline">
          <Timeline steps={of.timeline} isOperated={isOperated} />
          {of.webhook && !isOperated && (
            <p>
              <a href={href(`/deliveries?creation=${of.id}`)}>All deliveries of this creation</a>
            </p>
          )}
        </Card>
      </div>
    </div>
  );
}

function Results({ of }: { of: CreationDetail }) {
  if (of.results.length === 0) {
    if (of.status === 'queued' || of.status === 'processing') {
      return (
        <div class="card rendering" role="status">
          <p>{of.status === 'queued' ? 'Waiting for a renderer…' : 'Rendering…'}</p>
        </div>
      );
    }
    return null;
  }
  return (
    <Card>
      {of.results.map((result, index) => (
        <figure key={result.url}>
          <a href={result.url} target="_blank" rel="noreferrer">
            <Result of={result} alt={`Result ${index + 1} of ${of.results.length}`} />
          </a>
          <figcaption>
            {result.width} × {result.height}, {result.content_type}, {Math.ceil(result.bytes / 1024)} KiB{' '}
            {of.result_expires_at !== null && <Expiry at={of.result_expires_at} />}{' '}
            <Copy text={result.url} label="the address of the image" />
          </figcaption>
        </figure>
      ))}
    </Card>
  );
}
