/** Reads a job: its entry in the history, its position in the queue, and its picture. */
import type { RefusalReason } from '../../contract/failures.ts';
import type { OutputFormat } from '../../contract/request-fields.ts';
import { refusedBy, renderedAs, type VendorSettings } from '../provider.ts';
import {
  detailOf,
  entryOf,
  fieldsOf,
  listOf,
  propertyOf,
  unknownAnswer,
  type VendorHttp,
  type VendorResponse,
} from '../vendor-http.ts';
import { isTrouble, type PollOutcome, refusedCredentials } from '../vendor-jobs.ts';

/** The server's queue: what it works on, and what waits. Each entry is [number, id, workflow, …]. */
export type Queue =
  | { readonly kind: 'queue'; readonly running: readonly unknown[]; readonly pending: readonly unknown[] }
  | { readonly kind: 'trouble' }
  | { readonly kind: 'unknown'; readonly response: VendorResponse };

export async function queueOf({ http, headers, signal }: Connection): Promise<Queue> {
  const response = await http.call({ method: 'GET', to: '/queue', headers, signal });
  if (isTrouble(response)) return { kind: 'trouble' };
  const { queue_running: running, queue_pending: pending } = fieldsOf(response.json);
  return response.status === 200 && Array.isArray(running) && Array.isArray(pending)
    ? { kind: 'queue', running, pending }
    : { kind: 'unknown', response };
}

export function isIn(entries: readonly unknown[], id: string): boolean {
  return entries.some((entry) => listOf(entry)[1] === id);
}

export interface Connection extends Pick<VendorSettings, 'name' | 'credentials'> {
  readonly http: VendorHttp;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

// Why a server did not take a workflow, and why a workflow failed.

/** The first error of a node, such as value_not_in_list, or of the workflow. Undefined: neither. */
export function codeOfRefusal({ json }: VendorResponse): string | undefined {
  const { error, node_errors: ofNodes } = fieldsOf(json);
  const [first] = Object.values(fieldsOf(ofNodes));
  const code = propertyOf(listOf(propertyOf(first, 'errors'))[0], 'type') ?? propertyOf(error, 'type');
  return typeof code === 'string' ? code : undefined;
}

/** By the class of the exception. Any other class means a failed workflow. */
const reasonOfException: Readonly<Partial<Record<string, RefusalReason>>> = {
  OutOfMemoryError: 'unavailable',
  UnidentifiedImageError: 'source_image',
};

function reasonOf(exception: string): RefusalReason {
  return entryOf(reasonOfException, exception.split('.').at(-1) ?? '') ?? 'failed';
}

/** The server converts the picture, so it has the format, and no copy of the workflow in it. */
const formatQuery: Readonly<Record<OutputFormat, string>> = {
  png: 'channel=rgb',
  jpeg: 'preview=jpeg%3B95&channel=rgb',
  webp: 'preview=webp%3B95',
};

export async function readJob(
  connection: Connection,
  id: string,
  format: OutputFormat,
): Promise<PollOutcome> {
  const first = await historyEntryOf(connection, id);
  if (first.kind === 'outcome') return first.outcome;
  if (first.kind === 'entry') return endOf(connection, first, format);
  const queue = await queueOf(connection);
  if (queue.kind === 'trouble') return 'trouble';
  if (queue.kind === 'unknown') return unknownAnswer(queue.response, 'queue');
  if (isIn(queue.running, id) || isIn(queue.pending, id)) return 'working';
  // The job may have ended between the two calls.
  const second = await historyEntryOf(connection, id);
  if (second.kind === 'outcome') return second.outcome;
  // It was taken out of the queue, or a restart of the server has lost it: it will not be rendered.
  return second.kind === 'entry'
    ? endOf(connection, second, format)
    : refusedBy('cancelled', 'not in the queue');
}

interface Entry {
  readonly kind: 'entry';
  readonly response: VendorResponse;
  readonly entry: unknown;
}

type History =
  | Entry
  | { readonly kind: 'none' }
  | { readonly kind: 'outcome'; readonly outcome: PollOutcome };

async function historyEntryOf(
  { http, headers, signal, credentials, name }: Connection,
  id: string,
): Promise<History> {
  const response = await http.call({ method: 'GET', to: `/history/${id}`, headers, signal });
  if (isTrouble(response)) return { kind: 'outcome', outcome: 'trouble' };
  const refused = refusedCredentials(response, credentials, name);
  if (refused) return { kind: 'outcome', outcome: refused };
  const { json } = response;
  if (response.status !== 200 || typeof json !== 'object' || json === null)
    return { kind: 'outcome', outcome: unknownAnswer(response, 'history') };
  const entry = propertyOf(json, id);
  return entry === undefined ? { kind: 'none' } : { kind: 'entry', response, entry };
}

async function endOf(
  connection: Connection,
  { entry, response }: Entry,
  format: OutputFormat,
): Promise<PollOutcome> {
  const { status, outputs } = fieldsOf(entry);
  const messages = listOf(propertyOf(status, 'messages'));
  const detailsOf = (event: string): unknown =>
    listOf(messages.find((message) => listOf(message)[0] === event))[1];
  if (detailsOf('execution_interrupted') !== undefined)
    return refusedBy('cancelled', detailOf(response, 'execution_interrupted'));
  const exception = propertyOf(detailsOf('execution_error'), 'exception_type');
  if (typeof exception === 'string') return refusedBy(reasonOf(exception), detailOf(response, exception));
  if (propertyOf(status, 'status_str') === 'error') return refusedBy('failed', detailOf(response, 'error'));
  if (typeof outputs !== 'object' || outputs === null) return unknownAnswer(response, 'outputs');
  const images = Object.values(outputs).flatMap((output) => listOf(propertyOf(output, 'images')));
  const saved = images.find((image) => propertyOf(image, 'type') === 'output') ?? images[0];
  return saved === undefined
    ? refusedBy('nothing_rendered', detailOf(response, 'no image'))
    : fetchPicture(connection, saved, format);
}

async function fetchPicture(
  { http, headers, signal }: Connection,
  image: unknown,
  format: OutputFormat,
): Promise<PollOutcome> {
  const { filename, subfolder = '', type = 'output' } = fieldsOf(image);
  const named = [filename, subfolder, type].every((part) => typeof part === 'string');
  if (!named) return refusedBy('unknown_answer', 'an image without a name');
  const query = Object.entries({ filename, subfolder, type })
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
  const response = await http.call({
    method: 'GET',
    to: `/view?${query}&${formatQuery[format]}`,
    headers,
    signal,
  });
  if (isTrouble(response)) return 'trouble';
  if (response.status !== 200) return unknownAnswer(response, 'view');
  return response.bytes.byteLength === 0
    ? refusedBy('nothing_rendered', detailOf(response, 'empty'))
    : renderedAs(response.bytes);
}
