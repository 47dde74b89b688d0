/** A client of the service who has the unmodified openai library, and a record of what the library sends. */
import OpenAI, { type ClientOptions } from 'openai';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import type { Client, NewClient, TestService } from '../../fixtures/service.ts';

/** A request that the library sent, and the answer to it. */
export interface SentByLibrary {
  readonly path: string;
  /** 0 for the first try. */
  readonly tries: number;
  /** Undefined when no answer came. */
  readonly status?: number;
  readonly headers?: Headers;
}

export interface OpenaiCustomer extends Client {
  readonly openai: OpenAI;
  /** Every request so far. A retry of the library is a request of its own. */
  readonly sent: SentByLibrary[];
  readonly creations: () => Promise<readonly CreationRecord[]>;
}

export interface CustomerOptions extends NewClient {
  readonly library?: ClientOptions;
}

export async function openaiCustomer(
  service: TestService,
  { library = {}, ...wanted }: CustomerOptions = {},
): Promise<OpenaiCustomer> {
  const client = await service.client({ postRate: '1000', maxConcurrent: '100', ...wanted });
  const sent: SentByLibrary[] = [];
  const openai = new OpenAI({
    apiKey: client.key,
    baseURL: service.machine.openaiUrl,
    fetch: async (input, init) => {
      const tries = Number(new Headers(init?.headers).get('x-stainless-retry-count'));
      const { protocol, pathname } = new URL(input instanceof Request ? input.url : input);
      // The library tries whether fetch can send files.
      if (protocol === 'data:') return fetch(input, init);
      const path = pathname.replace('/openai/v1', '');
      const index = sent.push({ path, tries }) - 1;
      const response = await fetch(input, init);
      sent[index] = { path, tries, status: response.status, headers: response.headers };
      return response;
    },
    ...library,
  });
  return {
    ...client,
    openai,
    sent,
    creations: async () => service.operator.creations.list(client.account.id, 100),
  };
}

/** The type of an image file by its first bytes, of a base64 text. */
export function typeOf(base64: string | undefined): string {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  if (bytes.subarray(1, 4).toString('latin1') === 'PNG') return 'png';
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? 'jpeg' : 'unknown';
}
