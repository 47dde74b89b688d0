/** Generates on the account. A strip shows earlier images, and each can be the start of the next request. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BodyOf } from '../../../../service/contract/portal-calls.ts';
import type { CreationDetail, ModelView } from '../../../../service/contract/portal-views.ts';
import { call, Refusal } from '../../api/call.ts';
import { useAction, useNow, useResource } from '../../api/hooks.ts';
import { useOpenCreations } from '../../api/open-creations.ts';
import { useKept } from '../../kept.ts';
import { href, usePlace } from '../../router.ts';
import { useMay } from '../../session.tsx';
import { Button, Card, Money } from '../../ui/basics.tsx';
import { announce, Page } from '../../ui/page.tsx';
import { Empty, Failed, Loaded } from '../../ui/states.tsx';
import { durationText } from '../../words/figures.ts';
import { fileOf, isPictured } from '../gallery/files.ts';
import { Result } from '../gallery/picture.tsx';
import { CreationState } from '../parts/creation-table.tsx';
import { RequestSnippets } from '../parts/key-dialogs.tsx';
import { PlaygroundForm } from './form.tsx';
import { bodyOf, settingsOf, settingsOfAddress, type Settings, useAddress } from './settings.ts';
import { type Source, upload } from './source-images.tsx';
import { Strip } from './strip.tsx';

const variants = 4;

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

function Desk({ models, from }: { models: readonly ModelView[]; from?: CreationDetail }) {
  const [settings, setSettings] = useKept<Settings>('playground', () =>
    from ? settingsOf(from) : settingsOfAddress(),
  );
  const [sources, setSources] = useState<readonly Source[]>([]);
  const [shown, setShown] = useState<string>();
  const [turn, setTurn] = useState(0);
  const [orders, setOrders] = useState(0);
  useAddress(settings);
  useEffect(() => {
    if (shown !== undefined) document.getElementById('result')?.scrollIntoView({ block: 'nearest' });
  }, [shown]);
  const model = models.find(({ id }) => id === settings.model) ?? models[0];
  if (!model) return null;
  const made = (id: string): void => {
    setShown(id);
    setOrders((one) => one + 1);
  };
  return (
    <>
      <div class="halves desk">
        <PlaygroundForm
          models={models}
          model={model}
          settings={settings}
          onSettings={setSettings}
          sources={sources}
          onSources={setSources}
          turn={turn}
          onCreated={made}
        />
        <div>
          <PlaygroundResult
            key={shown}
            id={shown}
            onEnd={() => setTurn((one) => one + 1)}
            onSettings={setSettings}
            onSource={(source) => setSources([...sources, source].slice(-model.max_source_images))}
            takesSources={model.max_source_images > 0}
            onMade={() => setOrders((one) => one + 1)}
          />
          <Card title="Code">
            <RequestSnippets apiKey="YOUR_KEY" body={bodyOf({ ...settings, count: '' }, model, sources)} />
          </Card>
        </div>
      </div>
      <Strip shown={shown} orders={orders} onShow={setShown} />
    </>
  );
}

interface ResultActions {
  readonly onEnd: () => void;
  readonly onSettings: (settings: Settings) => void;
  readonly onSource: (source: Source) => void;
  readonly takesSources: boolean;
  /** A variant was ordered. The strip shows it, and the result stays. */
  readonly onMade: () => void;
}

function PlaygroundResult({ id, ...actions }: ResultActions & { id: string | undefined }) {
  return (
    <section class="card result" id="result" aria-label="Result">
      {id === undefined ? (
        <Empty title="The image appears here">
          <p>Write a prompt, check the price, and press Generate.</p>
        </Empty>
      ) : (
        <Creation id={id} {...actions} />
      )}
    </section>
  );
}

function Creation({ id, ...actions }: ResultActions & { id: string }) {
  const creation = useResource('getPortalCreation', { id });
  const { data, reload } = creation;
  const isEnded = data?.status === 'completed' || data?.status === 'failed';
  useEffect(() => {
    if (isEnded) {
      announce(data.status === 'completed' ? 'The image is ready.' : 'The creation failed and is refunded.');
      actions.onEnd();
    }
  }, [isEnded]);
  useOpenCreations(data ? [data] : [], creation.set);
  return <Loaded of={creation}>{(shown) => <Shown of={shown} onChange={reload} {...actions} />}</Loaded>;
}

function Shown({ of, onChange, ...actions }: ResultActions & { of: CreationDetail; onChange: () => void }) {
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
          <Result of={result} alt="The image that was generated" />
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
      {!isOpen && <NextSteps of={of} {...actions} />}
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

/** The next steps from a result: the same settings, a source image, and the same prompt with other seeds. */
function NextSteps({
  of,
  onSettings,
  onSource,
  takesSources,
  onMade,
}: ResultActions & { of: CreationDetail }) {
  const [busy, setBusy] = useState<'source' | 'variants'>();
  const [error, setError] = useState<Refusal>();
  const mayCreate = useMay('createCreation');
  // A press after a broken connection continues with the variant whose answer was lost, under the same key.
  const series = useRef(crypto.randomUUID());
  const ordered = useRef(0);
  const attempt = async (name: NonNullable<typeof busy>, work: () => Promise<void>): Promise<void> => {
    setBusy(name);
    setError(undefined);
    await work().catch((failure: unknown) =>
      setError(failure instanceof Refusal ? failure : new Refusal('PAGE', 'The picture could not be read.')),
    );
    setBusy(undefined);
  };
  const makeVariants = async (): Promise<void> => {
    const { webhook_url: _webhook, ...request } = of.request;
    const wanted = (Math.floor(ordered.current / variants) + 1) * variants;
    for (; ordered.current < wanted; ordered.current += 1) {
      const body = { ...request, ...(of.seed !== null && { seed: of.seed + ordered.current + 1 }) };
      await call('createCreation', {
        body: body as unknown as BodyOf<'createCreation'>,
        idempotencyKey: `${series.current}-${ordered.current}`,
      });
      onMade();
    }
  };
  return (
    <>
      <p class="row">
        <Button text="Use these settings" class="small" onClick={() => onSettings(settingsOf(of))} />
        {takesSources && isPictured(of) && (
          <Button
            text="Use as a source"
            class="small"
            isBusy={busy === 'source'}
            onClick={() => void attempt('source', async () => onSource(await upload(await fileOf(of))))}
          />
        )}
        {mayCreate && of.source_images === 0 && (
          <Button
            text={
              <>
                {variants} variants, <Money of={of.cost * variants} />
              </>
            }
            class="small"
            isBusy={busy === 'variants'}
            onClick={() => void attempt('variants', makeVariants)}
          />
        )}
      </p>
      {error && <Failed error={error} />}
    </>
  );
}
