/** The creation that the playground just asked for, until it has ended. */
import { useEffect } from 'preact/hooks';
import { useAction, useNow, useResource } from '../../api/hooks.ts';
import type { CreationDetail } from '../../../../service/contract/portal-views.ts';
import { href } from '../../router.ts';
import { announce } from '../../ui/announce.tsx';
import { Money } from '../../ui/basics.tsx';
import { Empty, Failed, Loaded } from '../../ui/states.tsx';
import { durationText } from '../../words/time.ts';
import { CreationState } from './creation-table.tsx';

const lookEveryMillis = 1000;

export function PlaygroundResult({ id, onEnd }: { id: string | undefined; onEnd: () => void }) {
  return (
    <section class="card result" id="result" aria-label="Result">
      {id === undefined ? (
        <Empty title="The image appears here">
          <p>Write a prompt, look at the price, and press Generate.</p>
        </Empty>
      ) : (
        <Creation id={id} onEnd={onEnd} />
      )}
    </section>
  );
}

function Creation({ id, onEnd }: { id: string; onEnd: () => void }) {
  const creation = useResource('getPortalCreation', { id });
  const { data, reload } = creation;
  const isEnded = data?.status === 'completed' || data?.status === 'failed';
  useEffect(() => {
    if (isEnded) {
      announce(data.status === 'completed' ? 'The image is there.' : 'The creation failed and is refunded.');
      onEnd();
      return;
    }
    const timer = setInterval(reload, lookEveryMillis);
    return () => clearInterval(timer);
  }, [isEnded, reload]);
  return <Loaded of={creation}>{(shown) => <Shown of={shown} onChange={reload} />}</Loaded>;
}

function Shown({ of, onChange }: { of: CreationDetail; onChange: () => void }) {
  const cancel = useAction('cancelPortalCreation', () => {
    announce('The creation is cancelled, and its price is refunded.');
    onChange();
  });
  const [result] = of.results;
  const isOpen = of.status === 'queued' || of.status === 'processing';
  return (
    <>
      {result ? (
        <a href={href(`/creations/${of.id}`)}>
          <img
            src={result.url}
            width={result.width}
            height={result.height}
            alt="The image that was generated"
          />
        </a>
      ) : (
        <div class="picture rendering">
          {isOpen ? (
            <Waiting since={of.created_at} status={of.status} />
          ) : (
            <p>{of.error ?? 'It was cancelled.'}</p>
          )}
        </div>
      )}
      <p class="row">
        <CreationState of={of} /> <Money of={of.cost} />
        {of.amount_refunded > 0 && <span class="dim">refunded</span>}
        <a href={href(`/creations/${of.id}`)}>Open the creation</a>
        {of.can_cancel && (
          <button
            type="button"
            class="small"
            aria-busy={cancel.isBusy}
            onClick={() => cancel.run({ id: of.id })}
          >
            Cancel
          </button>
        )}
      </p>
      {cancel.error && <Failed error={cancel.error} />}
    </>
  );
}

function Waiting({ since, status }: { since: string; status: CreationDetail['status'] }) {
  const now = useNow(1000);
  return (
    <p>
      {status === 'queued' ? 'Waiting for a renderer' : 'Rendering'}…{' '}
      <span class="money">{durationText(Math.max(0, now - Date.parse(since)))}</span>
    </p>
  );
}
