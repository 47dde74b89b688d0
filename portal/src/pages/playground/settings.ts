/** The settings of the playground, and the address that carries them. */
import { useEffect } from 'preact/hooks';
import type { GenerateBody } from '../../../../service/contract/portal-calls.ts';
import type { CreationDetail, ModelView } from '../../../../service/contract/portal-views.ts';
import { type PlainName, plainRows } from '../../../../service/contract/request-fields.ts';
import type { Source } from './source-images.tsx';

export interface Settings extends Readonly<Partial<Record<PlainName, string>>> {
  readonly model: string;
  readonly prompt: string;
  readonly resolution: string;
  readonly aspectRatio: string;
  readonly outputFormat: string;
  readonly count: string;
}

const names = [
  'model',
  'prompt',
  'resolution',
  'aspectRatio',
  'outputFormat',
  'count',
  ...plainRows.map(([name]) => name),
];
const empty: Settings = {
  model: '',
  prompt: '',
  resolution: '',
  aspectRatio: '',
  outputFormat: '',
  count: '',
};

/** The setting when the model takes it, else the first one that it takes. */
export const fitting = (value: string, taken: readonly string[]): string =>
  taken.includes(value) ? value : (taken[0] ?? '');

/** Some models cannot repeat an image, and few take a negative prompt. */
export const plainOf = (model: ModelView) => plainRows.filter(([name]) => model[`takes_${name}`]);

/** The allowed values of a choice for this model. */
export const choicesOf = (name: PlainName, values: readonly string[], model: ModelView): readonly string[] =>
  name === 'quality' ? model.qualities : values.filter((value) => value !== 'auto');

/** @param maskUrl of the first source image, whose ratio the picture then has */
export function bodyOf(
  settings: Settings,
  model: ModelView,
  sources: readonly Source[],
  maskUrl?: string,
): GenerateBody {
  const prompt = settings.prompt.trim();
  return {
    model: model.id,
    ...(prompt !== '' && { prompt }),
    resolution: fitting(settings.resolution, model.resolutions),
    ...(maskUrl === undefined
      ? { aspect_ratio: fitting(settings.aspectRatio, model.aspect_ratios) }
      : { mask_url: maskUrl }),
    output_format: fitting(settings.outputFormat, model.output_formats),
    ...Object.fromEntries(
      plainOf(model).flatMap(([name, field]) => {
        const text = settings[name]?.trim() ?? '';
        const isTaken = field.kind !== 'choice' || choicesOf(name, field.values, model).includes(text);
        return text === '' || !isTaken ? [] : [[name, field.kind === 'integer' ? Number(text) : text]];
      }),
    ),
    ...(Number(settings.count) > 1 && { count: Number(settings.count) }),
    ...(sources.length > 0 && { image_urls: sources.map(({ imageUrl }) => imageUrl) }),
  };
}

/** The settings that made a creation. */
export const settingsOf = (creation: CreationDetail): Settings => ({
  model: creation.model,
  prompt: creation.prompt ?? '',
  resolution: creation.resolution,
  aspectRatio: creation.aspect_ratio,
  outputFormat: creation.output_format,
  count: '',
  ...Object.fromEntries(plainRows.map(([name]) => [name, String(creation[name] ?? '')])),
});

/** The settings of the address. A browser sends nothing behind "#" to a server, so no log has the prompt. */
export function settingsOfAddress(): Settings {
  const given = new URLSearchParams(location.hash.slice(1));
  const known = names.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? '']] : []));
  return { ...empty, ...(Object.fromEntries(known) as Partial<Settings>) };
}

export function useAddress(settings: Settings): void {
  useEffect(() => {
    const carried = new URLSearchParams(
      Object.entries(settings).filter(([, value]) => value !== '') as [string, string][],
    ).toString();
    const { pathname, search } = location;
    history.replaceState(history.state, '', `${pathname}${search}${carried === '' ? '' : `#${carried}`}`);
  }, [settings]);
}
