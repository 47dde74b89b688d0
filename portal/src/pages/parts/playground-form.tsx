/** What to generate, with its price before the press. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GenerateBody } from '../../../../service/contract/portal-calls.ts';
import type { ModelView, QuoteView } from '../../../../service/contract/portal-views.ts';
import { capitalized, type PlainName, plainRows } from '../../../../service/contract/request-fields.ts';
import { call, Refusal } from '../../api/call.ts';
import { useAction } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { useSession } from '../../session.tsx';
import { Button, Money } from '../../ui/basics.tsx';
import { Field, Form, Select, Text } from '../../ui/form.tsx';
import { Dialog } from '../../ui/page.tsx';
import { RequestSnippets } from './key-dialogs.tsx';
import { type Source, SourceImages } from './source-images.tsx';

export interface Settings extends Readonly<Partial<Record<PlainName, string>>> {
  readonly model: string;
  readonly prompt: string;
  readonly resolution: string;
  readonly aspectRatio: string;
  readonly outputFormat: string;
}

const quoteAfterMillis = 300;

/** The setting when the model takes it, else the first one that it takes. */
const fitting = (value: string, taken: readonly string[]): string =>
  taken.includes(value) ? value : (taken[0] ?? '');

const optionsOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

/** Some models cannot repeat an image. */
const repeats: string = 'seed';
const plainOf = (model: ModelView) => plainRows.filter(([name]) => name !== repeats || model.takes_seed);

function bodyOf(settings: Settings, model: ModelView, sources: readonly Source[]): GenerateBody {
  const prompt = settings.prompt.trim();
  return {
    model: model.id,
    ...(prompt !== '' && { prompt }),
    resolution: fitting(settings.resolution, model.resolutions),
    aspect_ratio: fitting(settings.aspectRatio, model.aspect_ratios),
    output_format: fitting(settings.outputFormat, model.output_formats),
    ...Object.fromEntries(
      plainOf(model).flatMap(([name, { kind }]) => {
        const text = settings[name]?.trim() ?? '';
        return text === '' ? [] : [[name, kind === 'integer' ? Number(text) : text]];
      }),
    ),
    ...(sources.length > 0 && { image_urls: sources.map(({ imageUrl }) => imageUrl) }),
  };
}

export function PlaygroundForm(props: {
  models: readonly ModelView[];
  start?: Partial<Settings> | undefined;
  /** Changes when a creation has ended: then the price is asked anew, with what is available. */
  turn: number;
  onCreated: (id: string) => void;
}) {
  const { models, start, turn, onCreated } = props;
  const { me } = useSession();
  const [settings, setSettings] = useKept<Settings>('playground', () => ({
    model: models[0]?.id ?? '',
    prompt: '',
    resolution: '',
    aspectRatio: '',
    outputFormat: '',
    ...start,
  }));
  const [sources, setSources] = useState<readonly Source[]>([]);
  const [isCodeShown, setCodeShown] = useState(false);
  // One key for each press: a press that is repeated after a broken connection charges once.
  const idempotencyKey = useRef<string | undefined>(undefined);
  const generate = useAction('createCreation', ({ id }) => {
    idempotencyKey.current = undefined;
    onCreated(id);
  });
  const model = models.find(({ id }) => id === settings.model) ?? models[0];
  const used = model && model.max_source_images > 0 ? sources : [];
  const body = model && bodyOf(settings, model, used);
  const quote = useQuote(body, turn + (generate.isBusy ? 0.5 : 0));
  if (!model || !body) return null;
  const change = (changes: Partial<Settings>): void => {
    idempotencyKey.current = undefined;
    setSettings({ ...settings, ...changes });
  };
  const fields = generate.error?.fields ?? new Map<string, string>();
  const isPaused = me.account?.condition !== 'active';
  return (
    <div class="card">
      <Form
        submit="Generate"
        action={generate}
        isDisabled={isPaused || (body.prompt === undefined && used.length === 0)}
        beside={<Button text="View code" onClick={() => setCodeShown(true)} />}
        onSubmit={() => {
          idempotencyKey.current ??= crypto.randomUUID();
          generate.run({ body, idempotencyKey: idempotencyKey.current });
        }}
      >
        <Select
          label="Model"
          value={model.id}
          options={models.map(({ id, name }) => ({ value: id, label: name }))}
          hint={model.description}
          error={fields.get('model')}
          onChange={(id) => change({ model: id })}
        />
        <Field label="Prompt" error={fields.get('prompt')}>
          {(ids) => (
            <textarea
              {...ids}
              rows={5}
              value={settings.prompt}
              placeholder="A lighthouse in a storm, long exposure"
              onInput={(event) => change({ prompt: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.metaKey || event.ctrlKey))
                  event.currentTarget.form?.requestSubmit();
              }}
            />
          )}
        </Field>
        <div class="pair">
          <Select
            label="Resolution"
            value={fitting(settings.resolution, model.resolutions)}
            options={optionsOf(model.resolutions)}
            onChange={(resolution) => change({ resolution })}
          />
          <Select
            label="Aspect ratio"
            value={fitting(settings.aspectRatio, model.aspect_ratios)}
            options={optionsOf(model.aspect_ratios)}
            onChange={(aspectRatio) => change({ aspectRatio })}
          />
          <Select
            label="Format"
            value={fitting(settings.outputFormat, model.output_formats)}
            options={optionsOf(model.output_formats)}
            onChange={(outputFormat) => change({ outputFormat })}
          />
          {plainOf(model).map(([name, field]) =>
            field.kind === 'choice' ? (
              <Select
                key={name}
                label={capitalized(name)}
                value={settings[name] ?? ''}
                options={[{ value: '', label: 'Any' }, ...optionsOf(field.values)]}
                error={fields.get(name)}
                onChange={(value) => change({ [name]: value })}
              />
            ) : (
              <Text
                key={name}
                label={capitalized(name)}
                {...(field.kind === 'integer' && { inputMode: 'numeric' })}
                placeholder="Any"
                value={settings[name] ?? ''}
                onInput={(text) =>
                  change({ [name]: field.kind === 'integer' ? text.replace(/\D/g, '') : text })
                }
                error={fields.get(name)}
              />
            ),
          )}
        </div>
        {model.max_source_images > 0 && (
          <SourceImages
            sources={sources}
            most={model.max_source_images}
            pricePerImage={model.price_per_source_image}
            onChange={(next) => {
              idempotencyKey.current = undefined;
              setSources(next);
            }}
          />
        )}
        {model.sunset_at !== null && (
          <p class="notice warn">This model ends on {model.sunset_at.slice(0, 10)}.</p>
        )}
        <Price quote={quote} />
      </Form>
      {isCodeShown && (
        <Dialog title="This request" onClose={() => setCodeShown(false)}>
          <RequestSnippets apiKey="YOUR_KEY" body={body} />
        </Dialog>
      )}
    </div>
  );
}

type Quote = QuoteView | Refusal | undefined;

/** What the request costs, asked a moment after its last change. */
function useQuote(body: GenerateBody | undefined, turn: number): Quote {
  const [quote, setQuote] = useState<Quote>();
  // The price depends on neither the prompt nor the seed; a quote needs some prompt.
  const asked = body && JSON.stringify({ ...body, prompt: 'price', seed: undefined });
  useEffect(() => {
    if (asked === undefined) return;
    const abort = new AbortController();
    const isFirst = quote === undefined;
    const timer = setTimeout(
      () => {
        call('quoteCreation', { body: JSON.parse(asked) as GenerateBody }, abort.signal)
          .then(setQuote)
          .catch((error: unknown) => {
            if (!abort.signal.aborted && error instanceof Refusal) setQuote(error);
          });
      },
      isFirst ? 0 : quoteAfterMillis,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [asked, turn]);
  return quote;
}

function Price({ quote }: { quote: Quote }) {
  return (
    <p class="price" aria-live="polite">
      {quote === undefined ? (
        <span class="dim">Asking for the price…</span>
      ) : quote instanceof Refusal ? (
        <span class="dim">No price: {quote.message}</span>
      ) : (
        <>
          <strong>
            <Money of={quote.cost} />
          </strong>{' '}
          <span class={quote.sufficient ? 'dim' : 'soon'}>
            {quote.sufficient ? 'of' : 'is more than the'} <Money of={quote.available} /> available
          </span>
        </>
      )}
    </p>
  );
}
