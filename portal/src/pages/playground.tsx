import { useEffect, useState } from 'preact/hooks';
import type { CreationDetail, ModelView } from '../../../service/contract/portal-views.ts';
import { plainRows } from '../../../service/contract/request-fields.ts';
import { useAction, useNow, useResource } from '../api/hooks.ts';
import { useOpenCreations } from '../api/open-creations.ts';
import { href, usePlace } from '../router.ts';
import { Button, Money } from '../ui/basics.tsx';
import { announce, Page } from '../ui/page.tsx';
import { Empty, Failed, Loaded } from '../ui/states.tsx';
import { durationText } from '../words/figures.ts';
import { CreationState } from './parts/creation-table.tsx';
import { PlaygroundForm, type Settings } from './parts/playground-form.tsx';

/** The creation that the playground just asked for, until it has ended. */
function PlaygroundResult({ id, onEnd }: { id: string | undefined; onEnd: () => void }) {
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
    }
  }, [isEnded]);
  useOpenCreations(data ? [data] : [], creation.set);
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
          <Button
            text="Cancel"
            class="small"
            isBusy={cancel.isBusy}
            onClick={() => cancel.run({ id: of.id })}
          />
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

export function Playground() {
  const models = useResource('listPortalModels');
  const { query } = usePlace();
  const from = query.get('from');
  return (
    <Page title="Playground" lead="Generates on your account, at the price of the API.">
      <Loaded of={models}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No model is enabled">
              <p>The operator enables models by giving a vendor’s key to the service.</p>
            </Empty>
          ) : from === null ? (
            <Desk models={data} />
          ) : (
            <FromCreation key={from} id={from} models={data} />
          )
        }
      </Loaded>
    </Page>
  );
}

function FromCreation({ id, models }: { id: string; models: readonly ModelView[] }) {
  const creation = useResource('getPortalCreation', { id });
  return <Loaded of={creation}>{(data) => <Desk models={models} from={data} />}</Loaded>;
}

const settingsOf = (creation: CreationDetail): Partial<Settings> => ({
  model: creation.model,
  prompt: creation.prompt ?? '',
  resolution: creation.resolution,
  aspectRatio: creation.aspect_ratio,
  outputFormat: creation.output_format,
  ...Object.fromEntries(plainRows.map(([name]) => [name, String(creation[name] ?? '')])),
});

function Desk({ models, from }: { models: readonly ModelView[]; from?: CreationDetail }) {
  const [id, setId] = useState<string>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (id !== undefined) document.getElementById('result')?.scrollIntoView({ block: 'nearest' });
  }, [id]);
  return (
    <div class="halves desk">
      <PlaygroundForm models={models} start={from && settingsOf(from)} turn={turn} onCreated={setId} />
      <PlaygroundResult key={id} id={id} onEnd={() => setTurn((one) => one + 1)} />
    </div>
  );
}
