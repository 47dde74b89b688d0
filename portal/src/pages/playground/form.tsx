/** The form of a request, with its price before the press. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GenerateBody } from '../../../../service/contract/portal-calls.ts';
import type { ModelView, QuoteView } from '../../../../service/contract/portal-views.ts';
import { capitalized } from '../../../../service/contract/request-fields.ts';
import { call, Refusal } from '../../api/call.ts';
import { useAction } from '../../api/hooks.ts';
import { useSession } from '../../session.tsx';
import { Money } from '../../ui/basics.tsx';
import { Field, Form, Select, Text } from '../../ui/form.tsx';
import { bodyOf, choicesOf, fitting, plainOf, type Settings } from './settings.ts';
import { MaskBrush } from './mask-brush.tsx';
import { type Source, SourceImages } from './source-images.tsx';

const quoteAfterMillis = 300;

const optionsOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

export function PlaygroundForm(props: {
  models: readonly ModelView[];
  model: ModelView;
  settings: Settings;
  onSettings: (settings: Settings) => void;
  sources: readonly Source[];
  onSources: (sources: readonly Source[]) => void;
  /** Changes when a creation has ended: then the price is asked anew, with what is available. */
  turn: number;
  onCreated: (id: string) => void;
}) {
  const { models, model, settings, sources, turn, onCreated } = props;
  const { me } = useSession();
  // One key for each press: a press that is repeated after a broken connection charges once.
  const idempotencyKey = useRef<string | undefined>(undefined);
  const generate = useAction('createCreation', (made) => {
    idempotencyKey.current = undefined;
    const [{ id }] = 'data' in made ? made.data : [made];
    onCreated(id);
  });
  const used = model.max_source_images > 0 ? sources : [];
  const [first] = used;
  const [mask, setMask] = useState<{ readonly of: Source | undefined; readonly url: string | undefined }>();
  const maskUrl = model.takes_mask && mask?.of === first ? mask?.url : undefined;
  const body = bodyOf(settings, model, used, maskUrl);
  const quote = useQuote(body, turn + (generate.isBusy ? 0.5 : 0));
  // A changed request gets a new key.
  const asked = JSON.stringify(body);
  useEffect(() => void (idempotencyKey.current = undefined), [asked]);
  const change = (changes: Partial<Settings>): void => props.onSettings({ ...settings, ...changes });
  const fields = generate.error?.fields ?? new Map<string, string>();
  const isPaused = me.account?.condition !== 'active';
  return (
    <div class="card">
      <Form
        submit="Generate"
        action={generate}
        isDisabled={isPaused || (body.prompt === undefined && used.length === 0)}
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
              dir="auto"
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
          <Select
            label="Images"
            value={settings.count}
            options={['', '2', '3', '4'].map((value) => ({ value, label: value || '1' }))}
            onChange={(count) => change({ count })}
          />
          {plainOf(model).map(([name, field]) =>
            field.kind === 'choice' ? (
              <Select
                key={name}
                label={capitalized(name)}
                value={settings[name] ?? ''}
                options={[{ value: '', label: 'Any' }, ...optionsOf(choicesOf(name, field.values, model))]}
                error={fields.get(name)}
                onChange={(value) => change({ [name]: value })}
              />
            ) : (
              <Text
                key={name}
                label={capitalized(name)}
                {...(field.kind === 'integer' && { inputMode: 'numeric' })}
                placeholder={field.kind === 'integer' ? 'Any' : 'None'}
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
            onChange={props.onSources}
          />
        )}
        {model.takes_mask && first && (
          <MaskBrush
            key={first.imageUrl}
            source={first}
            isUsed={maskUrl !== undefined}
            onChange={(url) => setMask({ of: first, url })}
          />
        )}
        {fields.get('mask_url') !== undefined && <p class="notice warn">{fields.get('mask_url')}</p>}
        {model.sunset_at !== null && (
          <p class="notice warn">This model ends on {model.sunset_at.slice(0, 10)}.</p>
        )}
        <Price quote={quote} />
      </Form>
    </div>
  );
}

type Quote = QuoteView | Refusal | undefined;

/** The price of the request, read a moment after its last change. */
function useQuote(body: GenerateBody, turn: number): Quote {
  const [quote, setQuote] = useState<Quote>();
  // The price depends on neither the prompt nor the seed; a quote needs some prompt.
  const asked = JSON.stringify({ ...body, prompt: 'price', seed: undefined });
  useEffect(() => {
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
