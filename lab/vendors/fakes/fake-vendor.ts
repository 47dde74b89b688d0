/** A fake vendor: a server on loopback that speaks the vendor's protocol and remembers every request. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'jpeg-js';
import type { FailureName, RefusalReason } from '../../../service/contract/failures.ts';
import type { OutputFormat } from '../../../service/contract/request-fields.ts';

/**
 * One way in which a vendor answers, and how the creation then ends. A prompt that contains `[row:name]`
 * makes the fake answer in this way.
 */
export interface VendorRow {
  readonly row: string;
  readonly says: string;
  readonly ends: FailureName | 'completed';
  /** How many source images the request must have, so that the vendor can answer in this way. */
  readonly sources?: number;
  /** The request has a mask for its first source image. */
  readonly isMasked?: true;
  /** More fields of the request, and another model if the vendor's first one does not take them. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** A row of a vendor whose adapter reads each answer as a reason of its own. */
export interface AnsweredRow extends VendorRow {
  /** How the adapter must classify this reply. */
  readonly answers: RefusalReason | 'rendered';
}

/** How a creation ends when its only provider answers so. Every other reason is a failure of the service. */
const endOf: Readonly<Partial<Record<AnsweredRow['answers'], VendorRow['ends']>>> = {
  rendered: 'completed',
  prompt: 'PromptRejected',
  source_image: 'SourceImageRejected',
  nothing_rendered: 'NothingRendered',
  failed: 'GenerationFailed',
  timed_out: 'GenerationTimedOut',
  cancelled: 'GenerationTimedOut',
  unavailable: 'ServiceUnavailable',
  credentials: 'ServiceUnavailable',
};

/** A row whose creation ends as the reason says, unless `rest` says otherwise. */
export function row<Rest extends object>(
  name: string,
  says: string,
  answers: AnsweredRow['answers'],
  rest: Rest = {} as Rest,
): AnsweredRow & Rest {
  return { row: name, says, answers, ends: endOf[answers] ?? 'InternalFailure', ...rest };
}

export interface Received {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** The parsed body; undefined when the body is not JSON. */
  readonly json: unknown;
}

export interface Reply {
  /**
   * 'hang': the fake never answers. 'break': the fake closes the connection after it has read the request.
   */
  readonly status: number | 'hang' | 'break';
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain object is sent as JSON. */
  readonly body?: object | string | Uint8Array;
}

export function reply(status: number, body: NonNullable<Reply['body']>): Reply {
  return { status, body };
}

export interface FakeVendor {
  /** The base URL for the provider. */
  readonly url: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/**
 * What can stand between us and every vendor. Each fake answers these rows, and they stand in each vendor's
 * table.
 */
export const everywhereRows: readonly (VendorRow & { readonly reply: Reply })[] = [
  {
    row: 'throttled-for-a-second',
    says: '429 with Retry-After',
    ends: 'ServiceUnavailable',
    reply: { status: 429, headers: { 'retry-after': '1' }, body: 'Too many requests' },
  },
];

/**
 * A fake on a free port of loopback. `answer` gets the fake's own origin, for the addresses in its answers.
 */
export async function startFakeVendor(
  answer: (request: Received, origin: string) => Reply | Promise<Reply>,
): Promise<FakeVendor> {
  const received: Received[] = [];
  let origin = '';
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await readRequest(incoming);
      received.push(request);
      const everywhere = everywhereRows.find(({ row }) => request.body.includes(`[row:${row}]`));
      const reply = everywhere?.reply ?? (await answer(request, origin));
      if (reply.status === 'hang') return;
      if (reply.status === 'break') return void incoming.socket.destroy();
      const { body = '' } = reply;
      const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
      outgoing.writeHead(reply.status, {
        ...(isJson && { 'content-type': 'application/json' }),
        ...reply.headers,
      });
      outgoing.end(isJson ? JSON.stringify(body) : body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${portOf(server)}`;
  return {
    url: origin,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the fake vendor has no port');
  return address.port;
}

async function readRequest(incoming: IncomingMessage): Promise<Received> {
  const body = await buffer(incoming);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(
      Object.entries(incoming.headersDistinct).map(([name, lines]) => [name, lines?.join(', ')]),
    ),
    body,
    json: parsed(body),
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

/** The members of a JSON object. Any other value has none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The name of the row that a prompt asks for; undefined means an ordinary success. */
export function rowOf(prompt: unknown): string | undefined {
  return typeof prompt === 'string' ? /\[row:([\w-]+)\]/.exec(prompt)?.[1] : undefined;
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** As a vendor sizes a picture that is asked for by a class like "2K" and a ratio: sides in steps of 16. */
export function pixelsNear(resolution: string, ratio: string): Pixels {
  const [across = 1, down = 1] = ratio.split(':').map(Number);
  const edge = Number.parseFloat(resolution) * 1024;
  const side = (share: number): number => Math.round((edge * Math.sqrt(share)) / 16) * 16;
  return { width: side(across / down), height: side(down / across) };
}

/** What paints the pictures of a fake: pictures of one colour, in the requested format and size. */
export type Paint = (format: OutputFormat, width: number, height: number) => Buffer;

/** The download of a job's picture. Three rows change it: `page`, `empty-picture` and `download-broke`. */
export function download(
  job: { readonly row: string; downloads: number },
  format: OutputFormat,
  picture: Buffer,
): Reply {
  job.downloads += 1;
  if (job.row === 'download-broke' && job.downloads === 1) return { status: 'break' };
  const body = job.row === 'page' ? '<html>' : job.row === 'empty-picture' ? '' : picture;
  return { ...reply(200, body), headers: { 'content-type': `image/${format}` } };
}

/** Any decoder opens a PNG or JPEG of this function. A WebP consists of its header alone. */
export function pictureOf(format: OutputFormat, width: number, height: number): Buffer {
  switch (format) {
    case 'png':
      return pngOf(width, height);
    case 'jpeg':
      return encode({ width, height, data: Buffer.alloc(width * height * 4, 0x9c) }, 60).data;
    case 'webp':
      return webpHeaderOf(width, height);
  }
}

/** A picture of which nothing can be seen. The WebP has its opacities, and no colours. */
export function transparentOf(format: OutputFormat, width: number, height: number): Buffer {
  if (format !== 'webp') return pngWith(width, height, 6, Buffer.alloc((width * 4 + 1) * height));
  const head = Buffer.from(webpHeaderOf(width, height));
  const opacities = Buffer.alloc(8 + 1 + width * height);
  opacities.write('ALPH');
  opacities.writeUInt32LE(1 + width * height, 4);
  return Buffer.concat([head, opacities, Buffer.alloc((1 + width * height) & 1)]);
}

function pngOf(width: number, height: number): Buffer {
  // Eight bits of grey: each pixel is one byte.
  return pngWith(width, height, 0, Buffer.alloc((width + 1) * height, 0x9c));
}

/** @param rows of a byte for the filter, which becomes 0, and eight bits for each sample of this type of colour */
export function pngWith(width: number, height: number, colour: 0 | 6, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, colour, 0, 0, 0], 8);
  for (let row = 0; row < height; row += 1) rows[(row * rows.length) / height] = 0;
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunkOf('IHDR', header),
    chunkOf('IDAT', deflateSync(rows, { level: 1 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ]);
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** RIFF, WEBP and a VP8X chunk. The chunk holds width - 1 and height - 1, in 24 bits each (RFC 9649, 2.7). */
function webpHeaderOf(width: number, height: number): Buffer {
  const file = Buffer.alloc(30);
  file.write('RIFF', 0, 'ascii');
  file.writeUInt32LE(22, 4);
  file.write('WEBPVP8X', 8, 'ascii');
  file.writeUInt32LE(10, 16);
  file.writeUIntLE(width - 1, 24, 3);
  file.writeUIntLE(height - 1, 27, 3);
  return file;
}
