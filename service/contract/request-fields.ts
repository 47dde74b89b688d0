/**
 * The plain fields of POST /images/generate: optional values within bounds that are stored and passed on to vendors.
 * A row makes a field, and its words stand beside the row. The parser, the record, the job, the answers, the OpenAPI
 * document, the command, the playground, the tool for agents and the random bodies of the tests read this table. The
 * pages and the command import this file, so it imports nothing.
 */
/** The lengths of a text count code points. */
export type PlainField =
  | { readonly kind: 'integer'; readonly least: number; readonly most: number }
  | {
      readonly kind: 'text';
      readonly least: number;
      readonly most: number;
      /** A text of the client that is erased with the prompt. */
      readonly isPrivate: boolean;
    }
  | { readonly kind: 'choice'; readonly values: readonly string[] };

export const plainFields = {
  seed: { kind: 'integer', least: 0, most: 2 ** 31 - 1 },
  negative_prompt: { kind: 'text', least: 1, most: 2_000, isPrivate: true },
  quality: { kind: 'choice', values: ['auto', 'low', 'medium', 'high'] },
  background: { kind: 'choice', values: ['auto', 'opaque', 'transparent'] },
} as const satisfies Readonly<Record<string, PlainField>>;

export type PlainName = keyof typeof plainFields;

/** Apart from the fields, so that the functions of the API do not carry words that only documents show. */
export const plainWords: Readonly<Record<PlainName, Words>> = {
  seed: {
    description: 'Passed on if the provider supports it.',
    hint: 'for a model that can repeat an image',
  },
  negative_prompt: {
    description:
      'What the image must not show, for a model with `supports_negative_prompt`. Some take fewer characters. Other models refuse it.',
    hint: 'what the image must not show, for a model that takes it',
  },
  quality: {
    description:
      'One of the `qualities` of the model, or auto, as if it were left out. It may decide the price, and then the model of the creation is the one of this quality.',
    hint: 'for a model with qualities, which may have other prices',
  },
  background: {
    description:
      'transparent: at least 1 % of the pixels are see-through, in a png or webp of a model with `supports_background`. opaque: fewer are. auto, as if it were left out.',
    hint: 'transparent for a model that renders it, as png or webp',
  },
};

interface Words {
  /** In the OpenAPI document. */
  readonly description: string;
  /** In the help of the command and in the tool for agents: without a capital and a full stop. */
  readonly hint: string;
}

type ValueOf<Field> = Field extends { kind: 'integer' }
  ? number
  : Field extends { values: readonly (infer Value)[] }
    ? Value
    : string;
export type PlainBody = { [Name in PlainName]?: ValueOf<(typeof plainFields)[Name]> | undefined };

type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;
/** The fields in requests, records and jobs. A field that was left out is absent; the seed is null. */
export type PlainMembers = {
  readonly [Name in PlainName as Camel<Name>]?: NonNullable<PlainBody[Name]> | null;
};

/** The qualities that a request may name. */
export const tiers = ['low', 'medium', 'high'] as const satisfies readonly NonNullable<
  PlainBody['quality']
>[];
export type Tier = (typeof tiers)[number];

/** The quality that the request names. Undefined: it leaves the choice to the model. */
export function tierIn({
  quality,
}: {
  readonly quality?: PlainMembers['quality'] | undefined;
}): Tier | undefined {
  return tiers.find((tier) => tier === quality);
}

/** The backgrounds for which the pixels of a picture are counted. Undefined: any will do. */
export function backgroundIn({
  background,
}: {
  readonly background?: PlainMembers['background'] | undefined;
}): 'opaque' | 'transparent' | undefined {
  return background == null || background === 'auto' ? undefined : background;
}

/** A type without the members that plainMembers copies. The seed is named by hand, because it is never absent. */
export type WithoutPlain<Of> = Omit<Of, Exclude<keyof PlainMembers, 'seed'>>;

export const plainRows = Object.entries(plainFields) as [PlainName, PlainField][];

function camelOf(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The row of the table as a label or the begin of a sentence: "Seed strength". */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replaceAll('_', ' ');
}

/** The members of the private texts: an erasure takes them away. */
export const privateMembers: readonly string[] = plainRows
  .filter(([, field]) => field.kind === 'text' && field.isPrivate)
  .map(([name]) => camelOf(name));

function renamed(values: object, from: (name: string) => string, to: (name: string) => string): object {
  const given = values as Readonly<Record<string, unknown>>;
  const named = plainRows.map(([name]) => [to(name), given[from(name)]] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

const same = (name: string): string => name;

export const plainFromBody = (body: PlainBody): PlainMembers => renamed(body, same, camelOf);
export const plainMembers = (of: PlainMembers): PlainMembers => renamed(of, camelOf, camelOf);
export const plainShown = (of: PlainMembers): { [Name in PlainName]?: NonNullable<PlainBody[Name]> | null } =>
  renamed(of, camelOf, same);

/** The values that a request may name for its image, in the words of the API. */

export const resolutions = ['1K', '2K', '4K'] as const;
export const aspectRatios = [
  '1:1',
  '3:2',
  '2:3',
  '4:3',
  '3:4',
  '5:4',
  '4:5',
  '16:9',
  '9:16',
  '21:9',
] as const;
export const outputFormats = ['png', 'jpeg', 'webp'] as const;

export type Resolution = (typeof resolutions)[number];
export type AspectRatio = (typeof aspectRatios)[number];
export type OutputFormat = (typeof outputFormats)[number];

export const mostPromptLength = 10_000;
export const mostImageUrls = 10;
/** Images of one request, each a creation of its own. */
export const mostCount = 4;
