/**
 * The adapter for every server that offers POST /v1/images/generations. One synchronous call answers with the picture
 * in base64, or with the address of the picture. The style says what differs (service/catalog/provider-styles.ts, and
 * styles.ts beside this file).
 */
import { billedUnits } from '../../catalog/billed-cost.ts';
import type { Style } from '../../catalog/provider-styles.ts';
import { asMicros } from '../../values/money.ts';
import { type ImageProvider, refusedBy } from '../provider.ts';
import { answering, checkByCall, createVendorHttp, type Send, type VendorResponse } from '../vendor-http.ts';
import { download, polling } from '../vendor-jobs.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { pictureOf, waits } from './answer.ts';
import { refusalOf } from './refusals.ts';
import { requestOf } from './request.ts';

export interface CompatibleServer extends VendorSettings {
  readonly baseUrl: string;
  readonly style: Style;
  /** Absent: calls carry a key. 'none': the server asks for none. */
  readonly credential?: 'key' | 'none';
  /** Hosts beside that of the base URL from which a picture is downloaded, each with its subdomains. */
  readonly imageHosts?: readonly string[];
  /** Sends the requests. Absent: fetch() does. */
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
