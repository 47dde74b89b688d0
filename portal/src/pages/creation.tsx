import { useEffect } from 'preact/hooks';
import { useAction, useResource } from '../api/hooks.ts';
import type { CreationDetail } from '../../../service/contract/portal-views.ts';
import { capitalized, plainRows } from '../../../service/contract/request-fields.ts';
import { href } from '../router.ts';
import { useMay, useSession } from '../session.ts';
import { announce } from '../ui/announce.tsx';
import { Card, Code, Copy, Fact, Facts, Id, Money, Time } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Failed, Loaded } from '../ui/states.tsx';
import { curlOf } from '../words/snippets.ts';
import { CreationState } from './parts/creation-table.tsx';
import { Expiry } from './parts/expiry.tsx';
import { Timeline } from './parts/timeline.tsx';

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
  const seconds = data?.look_after_seconds ?? undefined;
  useEffect(() => {
    if (seconds === undefined) return;
    // An interval continues when a look fails. A look that succeeds gives new data, and its own pace.
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [data, seconds, reload]);
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
              <button type="button" aria-busy={cancel.isBusy} onClick={() => cancel.run({ id })}>
                Cancel
              </button>
            )}
            {data.can_redeliver && (
              <button type="button" aria-busy={redeliver.isBusy} onClick={() => redeliver.run({ id })}>
                Redeliver the webhook
              </button>
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
      <Loaded of={creation}>{(shown) => <Content of={shown} />}</Loaded>
    </Page>
  );
}

function Content({ of }: { of: CreationDetail }) {
  const { me } = useSession();
  return (
    <div class="halves">
      <div>
        <Results of={of} />
        <Card title="Request">
          <Facts>
            <Fact name="Prompt">
              <span class="text">{of.prompt ?? <span class="dim">none</span>}</span>
            </Fact>
            <Fact name="Model">{of.model}</Fact>
            <Fact name="Size">
              {of.resolution}, {of.aspect_ratio}, {of.output_format}
            </Fact>
            {plainRows.map(
              ([name]) => (of[name] ?? null) !== null && <Fact name={capitalized(name)}>{of[name]}</Fact>,
            )}
            {of.source_images > 0 && <Fact name="Source images">{of.source_images}</Fact>}
            {of.user !== null && <Fact name="User">{of.user}</Fact>}
            <Fact name="Key">{of.key.name}</Fact>
            {of.webhook_url !== null && (
              <Fact name="Webhook">
                <span class="url">{of.webhook_url}</span>
              </Fact>
            )}
          </Facts>
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
          <Facts>
            <Fact name="State">
              <CreationState of={of} />
            </Fact>
            <Fact name="Cost">
              <Money of={of.cost} />
              {of.amount_refunded > 0 && (
                <>
                  , refunded <Money of={of.amount_refunded} />
                </>
              )}
            </Fact>
            <Fact name="Created">
              <Time at={of.created_at} form="full" />
            </Fact>
            {of.completed_at !== null && (
              <Fact name="Ended">
                <Time at={of.completed_at} form="full" />
              </Fact>
            )}
          </Facts>
          {of.error !== null && (
            <div class="notice bad">
              <p>{of.error}</p>
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
          <Timeline steps={of.timeline} />
          {of.webhook && (
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
            <img
              src={result.url}
              width={result.width}
              height={result.height}
              alt={`Result ${index + 1} of ${of.results.length}`}
            />
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
