/** What differs between the servers of the family: the rules of each, and how they are read. */
import type { CompatibleStyleName } from '../../../../service/catalog/providers.ts';
import type { OutputFormat } from '../../../../service/contract/request-fields.ts';
import type { Honours, Ways } from '../facts.ts';
import type { Fields, Reply } from '../fake-vendor.ts';
import type { CompatibleRow } from './rows.ts';

/** OpenAI has a fake of its own. */
export type FakeStyle = Exclude<CompatibleStyleName, 'openai'>;

/** Width and height. */
type Size = readonly [width: number, height: number];

export interface ServerRules {
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
  /** The name of the part with a mask. Absent: the server takes none. */
  readonly maskPart?: string;
  readonly mostSources: number;
  /** The server's words for a request that it does not take. */
  readonly refuse: (status: number, about: string) => Reply;
  /** What the server says about a wrong key. */
  readonly keyRefused: Reply;
  /** The answer with a picture, which the data has as `b64_json` or as `url`. */
  readonly picture: (data: Fields, size: string) => Fields;
  /** Members of the answer beside the picture, such as the bill. */
  readonly more?: (fields: Fields) => Fields;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rows: readonly CompatibleRow[];
  readonly ways: Ways;
  readonly honours: Honours;
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

const sidesOfRatio: Readonly<Record<string, Size>> = {
  '1:1': [1024, 1024],
  '3:2': [1280, 832],
  '2:3': [832, 1280],
  '4:3': [1216, 896],
  '3:4': [896, 1216],
  '5:4': [1152, 896],
  '4:5': [896, 1152],
  '16:9': [1344, 768],
  '9:16': [768, 1344],
};

export function sizeOfRatio(ratio: unknown, times: number): Size | undefined {
  const size = typeof ratio === 'string' ? sidesOfRatio[ratio] : undefined;
  return size && [size[0] * times, size[1] * times];
}
