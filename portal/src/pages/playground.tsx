import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../api/hooks.ts';
import type { CreationDetail, ModelView } from '../../../service/contract/portal-views.ts';
import { plainRows } from '../../../service/contract/request-fields.ts';
import { usePlace } from '../router.ts';
import { Page } from '../ui/page.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { PlaygroundForm, type Settings } from './parts/playground-form.tsx';
import { PlaygroundResult } from './parts/playground-result.tsx';

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
