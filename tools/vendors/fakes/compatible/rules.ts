/** What a fake of the family checks of a request, and how it words a refusal. Each server has its own rules. */
import type { CompatibleStyleName } from '../../../../core/provider-styles.ts';
import type { OutputFormat } from '../../../../core/image-formats.ts';
import type { Fields, Reply } from '../fake-vendor.ts';
import { recordedAnswer } from '../recorded-answer.ts';
import type { CompatibleRow } from './rows.ts';

/** OpenAI has a fake of its own. */
export type FakeStyle = Exclude<CompatibleStyleName, 'openai'>;

/** Width and height. */
export type Size = readonly [width: number, height: number];

export interface ServerRules {
  /** The folder of the recorded answers. */
  readonly answers: string;
  /** The only key that the fake accepts. Null: it asks for none. */
  readonly key: string | null;
  readonly generations: string;
  /** Null: there is no call with source images. */
  readonly edits: string | null;
  readonly check: string;
  /** The fields of a request. A server that ignores other fields has no list. */
  readonly fields: readonly string[] | null;
  /** The values that a field may have. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  /** The models, with the fields that a model does not take. */
  readonly models: Readonly<Record<string, readonly string[]>>;
  readonly mostPrompt: number;
  /** Undefined: the server refuses the size. */
  readonly sizeOf: (fields: Fields) => Size | undefined;
  readonly formatOf: (fields: Fields) => OutputFormat;
  /** How source images come: in parts of a form, or in a field of the JSON. */
  readonly sources: 'form' | ((fields: Fields) => readonly Buffer[] | undefined) | null;
  /** The names that the parts of the form may have. */
  readonly sourceParts: readonly string[];
  readonly mostSources: number;
  /** The server's words for a request that it does not take. */
  readonly refuse: (status: number, about: string) => Reply;
  /** Members of the answer beside the picture, such as the bill. */
  readonly more?: (fields: Fields) => Fields;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rows: readonly CompatibleRow[];
}

/** A recorded answer with this status. */
export function recorded(answers: string, name: string, status: number): Reply {
  return { status, body: recordedAnswer(answers, name) };
}

/** "1360x768". Undefined: the text is no size, or has not this many pixels. */
export function pixelSize(size: unknown, [least, most]: readonly [number, number]): Size | undefined {
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(String(size)) ?? []).map(Number);
  return width * height >= least && width * height <= most ? [width, height] : undefined;
}

/** The bytes of data URIs of pictures. Undefined when one of them is not a data URI. */
export function bytesOfUris(uris: readonly unknown[]): readonly Buffer[] | undefined {
  const all = uris.map((uri) => /^data:image\/\w+;base64,(.+)$/.exec(String(uri))?.[1]);
  return all.every((base64) => base64 !== undefined)
    ? all.map((base64) => Buffer.from(base64, 'base64'))
    : undefined;
}
