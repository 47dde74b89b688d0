/**
 * One fake for the whole family of servers that offer POST /v1/images/generations. What differs is in the rules of
 * each. The fake refuses what the server refuses, and serves a picture at an address only to a call without a key.
 */
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import type { Fake } from '../facts.ts';
import {
  type FakeVendor,
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  type Reply,
  rowOf,
  startFakeVendor,
  transparentOf,
} from '../fake-vendor.ts';
import { formOf } from '../openai/server.ts';
import { byteplus } from './byteplus.ts';
import { litellm, localai, sglang, vllmOmni } from './own-servers.ts';
import { recraft } from './recraft.ts';
import type { FakeStyle, ServerRules } from './rules.ts';
import { xai } from './xai.ts';

export const rulesOf: Readonly<Record<FakeStyle, ServerRules>> = {
  'vllm-omni': vllmOmni,
  sglang,
  localai,
  litellm,
  xai,
  recraft,
  ark: byteplus,
};

/** Starts the fake of a server. */
export async function startFakeServer(style: FakeStyle, paint: Paint = pictureOf): Promise<FakeVendor> {
  const rules = rulesOf[style];
  const pictures: Buffer[] = [];
  return startFakeVendor((request, origin) => {
    const place = /^\/pictures\/(\d+)\.png$/.exec(request.path)?.[1];
    if (place !== undefined) return deliver(request, pictures[Number(place)]);
    const { key, check } = rules;
    if (key !== null && request.headers['authorization'] !== `Bearer ${key}`) return rules.keyRefused;
    if (request.path === check && request.method === 'GET') return { status: 200, body: { data: [] } };
    const sent = sentFields(rules, request);
    if (!sent) return { status: 404, body: { error: 'there is no such path' } };
    return (
      refusalOfFields(rules, sent.fields) ??
      refusalOfSources(rules, sent) ??
      answerTo(rules, sent, { pictures, origin, paint })
    );
  });
}

interface Sent {
  readonly fields: Fields;
  /** Undefined: the source images are malformed. */
  readonly sources: readonly Buffer[] | undefined;
  /** For the first source image. */
  readonly mask?: Buffer;
}

const sourceFields = ['image', 'images', 'ref_images'];

/** The fields and source images of a request. Undefined: the server has no such call. */
function sentFields(rules: ServerRules, request: Received): Sent | undefined {
  if (request.method !== 'POST') return undefined;
  const isThumbnail = (request.headers['content-type'] ?? '').startsWith('multipart/form-data');
  if (isThumbnail) {
    if (rules.sources !== 'form' || request.path !== rules.edits) return undefined;
    const { fields, files: parts } = formOf(request);
    const files = parts.filter(({ field }) => field !== rules.maskPart);
    const mask = parts.find(({ field }) => field === rules.maskPart)?.bytes;
    const isNamed = files.length > 0 && files.every(({ field }) => rules.sourceParts.includes(field));
    // Every value of a form is text, and a server reads n as a number.
    return {
      fields: { ...fields, n: Number(fields['n'] ?? 1) },
      sources: isNamed ? files.map(({ bytes }) => bytes) : undefined,
      ...(mask && { mask }),
    };
  }
  const fields = fieldsOf(request.json);
  const hasSources = sourceFields.some((field) => field in fields);
  if (!hasSources) return request.path === rules.generations ? { fields, sources: [] } : undefined;
  if (typeof rules.sources !== 'function' || request.path !== rules.edits) return undefined;
  return { fields, sources: rules.sources(fields) };
}

function refusalOfFields(
  { fields: known, values, models, mostPrompt, sizeOf, refuse }: ServerRules,
  fields: Fields,
): Reply | undefined {
  const { model, prompt } = fields;
  const notTaken = typeof model === 'string' ? models[model] : undefined;
  if (!notTaken) return refuse(400, 'model');
  if (typeof prompt !== 'string' || prompt === '' || prompt.length > mostPrompt) return refuse(400, 'prompt');
  const stranger = Object.keys(fields).find(
    (field) => notTaken.includes(field) || (known !== null && !known.includes(field)),
  );
  if (stranger !== undefined) return refuse(400, stranger);
  const wrong = Object.keys(values).find(
    (field) => field in fields && values[field]?.includes(fields[field]) !== true,
  );
  if (wrong !== undefined) return refuse(400, wrong);
  return sizeOf(fields) === undefined ? refuse(400, 'size') : undefined;
}

function refusalOfSources({ mostSources, refuse }: ServerRules, { sources, mask }: Sent): Reply | undefined {
  const isFit = sources?.every((bytes) => readImageHeader(bytes) !== undefined) === true;
  if (!isFit || sources.length > mostSources) return refuse(400, 'image');
  return mask && !isMaskOf(mask, sources[0] ?? Buffer.alloc(0)) ? refuse(400, 'mask') : undefined;
}

/** OpenAI reads the opacities of a mask, so it has to have some (platform.openai.com/docs/api-reference/images). */
function isMaskOf(mask: Buffer, source: Buffer): boolean {
  const [one, other] = [readImageHeader(mask), readImageHeader(source)];
  const hasOpacities = one?.contentType === 'image/png' && (mask[25] === 4 || mask[25] === 6);
  return hasOpacities && one.width === other?.width && one.height === other.height;
}

interface Gallery {
  readonly pictures: Buffer[];
  readonly origin: string;
  readonly paint: Paint;
}

function answerTo(rules: ServerRules, { fields, sources, mask }: Sent, gallery: Gallery): Reply {
  const { pictures, origin, paint } = gallery;
  const found = rules.rows.find((candidate) => candidate.row === rowOf(fields['prompt']));
  if (typeof found?.reply === 'object') return found.reply;
  const [width, height] = rules.sizeOf(fields) ?? [1024, 1024];
  const isCutOut = fields['background'] === 'transparent' && found?.row !== 'opaque-instead';
  const painted = (isCutOut ? transparentOf : paint)(rules.formatOf(fields), width, height);
  // The source image keeps everything that a mask may protect.
  const picture = (mask && found?.row !== 'mask-ignored' && sources?.[0]) || painted;
  const data =
    found?.reply === 'address'
      ? { b64_json: null, url: `${origin}/pictures/${pictures.push(picture) - 1}.png` }
      : { b64_json: picture.toString('base64') };
  const body = rules.picture(data, `${width}x${height}`);
  return { status: 200, headers: { ...rules.headers }, body: { ...body, ...rules.more?.(fields) } };
}

function deliver({ headers }: Received, picture: Buffer | undefined): Reply {
  if (headers['authorization'] !== undefined) return { status: 400, body: 'a key was sent here' };
  return picture
    ? { status: 200, headers: { 'content-type': 'image/png' }, body: picture }
    : { status: 404, body: '' };
}

/** @param model the model of the catalog that the tests request from the server */
export function fakeServer(style: FakeStyle, model: string): Fake {
  const { rows, key, ways, honours } = rulesOf[style];
  const start: Fake['start'] = async (paint) => startFakeServer(style, paint);
  return { start, rows, ...(key !== null && { key }), model, ways, honours };
}

/** The vendors that are built in. */
export const fakesInCommonShape = {
  xai: fakeServer('xai', 'grok-imagine-image-2.0'),
  recraft: fakeServer('recraft', 'recraft-v4.1'),
  byteplus: fakeServer('ark', 'seedream-5.0-lite'),
} as const satisfies Readonly<Record<string, Fake>>;
