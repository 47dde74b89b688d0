/**
 * The adapter for every server that offers POST /v1/images/generations. One synchronous call answers with the picture
 * in base64, or with the address of the picture. The style says what differs (service/catalog/providers.ts, and
 * styles.ts beside this file).
 */
import { billedTokens, billedUnits, billedUsd } from '../../catalog/billed-cost.ts';
import type { Style } from '../../catalog/providers.ts';
import { asMicros, type Micros } from '../../values/money.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  refusedBy,
  renderedAs,
  type RenderJob,
  type VendorSettings,
} from '../provider.ts';
import {
  answering,
  checkByCall,
  createVendorHttp,
  detailOf,
  propertyOf,
  type Send,
  unknownAnswer,
  type VendorHttp,
  type VendorResponse,
} from '../vendor-http.ts';
import { download, foreignAddress, pendingJob, polling, type Waits } from '../vendor-jobs.ts';
import { refusalOf } from './refusals.ts';
import { requestOf } from './request.ts';

// The answer of a server with status 200, as its style has it.

/** The picture is there when the answer comes. Only a download that broke waits. */
const waits: Waits = [0, 1_000, 2_000, 3_000];

/** The picture, or why there is none. An address becomes a job's id, to repeat a broken download. */
function pictureOf(
  style: Style,
  job: Pick<RenderJob, 'tokenPrices'>,
  response: VendorResponse,
  pictures: Pick<VendorHttp, 'isOwn'>,
): ProviderAnswer {
  const data = propertyOf(response.json, 'data');
  if (!Array.isArray(data)) return unknownAnswer(response);
  const first: unknown = data[0];
  if (data.length === 0) return refusedBy('nothing_rendered', detailOf(response));
  if (style.moderation !== null && propertyOf(first, style.moderation) === false)
    return refusedBy('prompt', detailOf(response, style.moderation));
  if (propertyOf(first, 'error') !== undefined) return refusalOf(response, propertyOf(first, 'error'));
  const billed = billedOf(style, job, response);
  const base64 = style.answer === 'url' ? undefined : propertyOf(first, 'b64_json');
  const url = style.answer === 'b64_json' ? undefined : propertyOf(first, 'url');
  if (typeof base64 === 'string' && base64 !== '') return renderedAs(Buffer.from(base64, 'base64'), billed);
  if (typeof url === 'string' && url !== '')
    return pictures.isOwn(url) ? pendingJob(waits, [url, String(billed ?? '-')]) : foreignAddress;
  return base64 === '' || url === ''
    ? refusedBy('nothing_rendered', detailOf(response))
    : unknownAnswer(response);
}

/** The cost by the answer. Undefined: the answer does not say. */
function billedOf(
  { billed, billedPerUsd }: Style,
  { tokenPrices }: Pick<RenderJob, 'tokenPrices'>,
  { json, headers }: VendorResponse,
): Micros | undefined {
  if (billed === null) return undefined;
  if (billed === 'tokens') return billedTokens(tokensOf(json), tokenPrices);
  const header = billed.startsWith('x-') ? headers.get(billed) : null;
  const units =
    header === null
      ? billed.split('.').reduce<unknown>((value, member) => propertyOf(value, member), json)
      : Number.parseFloat(header);
  return billedUsd(typeof units === 'number' ? units / billedPerUsd : undefined);
}

/** `usage` as OpenAI bills it. Without output_tokens_details, all of the output is the picture's. */
function tokensOf(json: unknown): Parameters<typeof billedTokens>[0] {
  const usage = propertyOf(json, 'usage');
  const given = propertyOf(usage, 'input_tokens_details');
  const drawn = propertyOf(usage, 'output_tokens_details');
  return {
    text_in: propertyOf(given, 'text_tokens'),
    image_in: propertyOf(given, 'image_tokens'),
    image_out: propertyOf(drawn, 'image_tokens') ?? propertyOf(usage, 'output_tokens'),
    text_out: propertyOf(drawn, 'text_tokens') ?? 0,
  };
}

export interface CompatibleServer extends VendorSettings {
  readonly baseUrl: string;
  readonly style: Style;
  /** Absent: calls carry a key. 'none': the server asks for none. */
  readonly credential?: 'key' | 'none';
  /** Hosts beside that of the base URL from which a picture is downloaded, each with its subdomains. */
  readonly imageHosts?: readonly string[];
  readonly send?: Send;
}

export function createCompatible(server: CompatibleServer): ImageProvider {
  const { name, credentials, baseUrl, style, imageHosts = [], send } = server;
  const sender = send && { send };
  const api = createVendorHttp({ baseUrl, hosts: [], ...sender });
  const pictures = createVendorHttp({ baseUrl, hosts: imageHosts, ...sender });
  const poll: ImageProvider['poll'] = (jobId, _job, signal) =>
    polling(jobId, waits, (url = '', billed = '') =>
      download(pictures, url, signal, billedUnits(billed, asMicros(1))),
    );
  return {
    name,
    sends: [
      ...(style.negativePrompt === null ? [] : (['negativePrompt'] as const)),
      ...(style.quality === 'never' ? [] : (['quality'] as const)),
      ...(style.background === null ? [] : (['background'] as const)),
      ...(style.mask === null || style.edits !== 'multipart' ? [] : (['mask'] as const)),
    ],
    submit: (job, signal) =>
      answering(async () => {
        const headers = await headersOf(server);
        if (!headers) return refusedBy('credentials', 'no credential');
        const { path, body } = await requestOf(style, job);
        const response = await api.call({ method: 'POST', to: path, headers, body, signal });
        const answer =
          response.status === 200 ? pictureOf(style, job, response, pictures) : refusalOf(response);
        if (answer.kind === 'refused' && answer.reason === 'credentials') credentials.forget(name);
        return answer;
      }),
    ...(style.answer !== 'b64_json' && { poll }),
  };
}

/** Undefined: the operator has set no key. */
async function headersOf({
  name,
  credentials,
  credential,
}: CompatibleServer): Promise<Record<string, string> | undefined> {
  if (credential === 'none') return {};
  const key = await credentials.read(name);
  return key === undefined ? undefined : { authorization: `Bearer ${key}` };
}

/** Asks the server by the free call of its style. Throws when the signal aborts. */
export async function checkCompatible(
  server: CompatibleServer,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const { baseUrl, style, send, credential } = server;
  const { checkPath } = style;
  if (checkPath === null)
    return { verdict: 'unchecked', detail: 'the server has no call that costs nothing' };
  const http = createVendorHttp({ baseUrl, hosts: [], ...(send && { send }) });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({
      method: 'GET',
      to: checkPath,
      ...(key !== '' && { headers: { authorization: `Bearer ${key}` } }),
      signal,
    });
  const keyless = { read: async () => Promise.resolve(''), forget: () => undefined };
  return checkByCall(credential === 'none' ? { ...server, credentials: keyless } : server, ask);
}
