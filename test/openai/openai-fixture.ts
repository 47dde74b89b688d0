/** The OpenAI-shaped endpoint over fakes of the ports: the events of a REST API, and answers as they are streamed. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { StreamedHandler } from '../../service/api/response-stream.ts';
import { heldRequestMillis } from '../../service/contract/limits.ts';
import type { NewCreation } from '../../service/creations/charge.ts';
import type { CreationReads } from '../../service/creations/creation-reads.ts';
import type { CreationRecord, StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import { entryIdOf, firstSeen, type RetryEntry, type RetryPlace } from '../../service/creations/retries.ts';
import type { RetryStore } from '../../service/creations/retry-store.ts';
import type { OpenaiImageServices } from '../../service/openai/open.ts';
import { openaiImages } from '../../service/openai/openai-images.ts';
import { inOpenaiForm, type OpenaiHandle } from '../../service/openai/serve-openai.ts';
import { asMicros } from '../../service/values/money.ts';
import { startBudget } from '../../service/values/time.ts';
import { stub } from '../api/fakes.ts';
import { accepting, bearer, type Stage, type StageServices } from '../api/serve-fixture.ts';
import { storedImage } from '../fixtures/records.ts';

export interface OpenaiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: {
    readonly error?: {
      readonly message: string;
      readonly type: string;
      readonly param: string | null;
      readonly code: string;
      readonly details: Readonly<Record<string, unknown>>;
    };
  } & Readonly<Record<string, unknown>>;
}

export interface OpenaiSending {
  readonly method?: string;
  /** Below /openai/v1. */
  readonly path?: string;
  readonly pathId?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** An event of a REST API. It is as AWS documents it, with the names of headers as the client wrote them. */
export function restEvent(sending: OpenaiSending = {}): APIGatewayProxyEvent {
  const { method = 'GET', path = '/models', pathId, query, headers, body } = sending;
  return {
    httpMethod: method,
    path,
    resource: `/v1${path}`,
    headers: { Authorization: bearer.authorization, ...headers },
    pathParameters: pathId === undefined ? null : { id: pathId },
    queryStringParameters: query ?? null,
    requestContext: {
      requestId: 'request-1',
      requestTimeEpoch: 1_795_780_800_000,
      path: `/openai/v1${path}`,
      identity: { sourceIp: '203.0.113.7' },
    },
    body: body === undefined ? null : typeof body === 'string' ? body : Buffer.from(body).toString('base64'),
    isBase64Encoded: body instanceof Uint8Array,
  } as unknown as APIGatewayProxyEvent;
}

/** What a client gets: the head, and the body once it has ended. */
async function received(
  handler: StreamedHandler,
  sending: OpenaiSending,
  onPart: () => void = () => undefined,
): Promise<OpenaiAnswer> {
  const { status, headers, body } = await handler(restEvent(sending), {} as Context);
  let text = '';
  for await (const part of typeof body === 'string' ? [body] : body) {
    onPart();
    text += typeof part === 'string' ? part : Buffer.from(part).toString();
  }
  const isJson = headers['content-type'] === 'application/json';
  return { status, headers, text, body: isJson ? (JSON.parse(text) as OpenaiAnswer['body']) : {} };
}

/** One request to an operation over the services of the stage. */
export async function ask<Services extends StageServices>(
  handle: OpenaiHandle<Services>,
  sending: OpenaiSending = {},
  stage: Stage = accepting({}),
  more: Partial<Services> = {},
): Promise<OpenaiAnswer> {
  const open = (): Services => Object.assign(stage.open(), more) as Services;
  return received(inOpenaiForm(handle, open), sending);
}

// The tries of calls in memory: what the charges of a stage have written, and what was attached and noted since.

/** Every charge of the stage counts as charged. */
function retriesOf(stage: () => Stage): RetryStore {
  const seen = new Map<string, number[]>();
  const told = new Map<string, RetryEntry['told']>();
  const entriesAt = (place: RetryPlace): RetryEntry[] => {
    const entries = new Map<string, RetryEntry>();
    for (const { retry, creations, nowMillis } of stage().orders) {
      if (!retry || retry.place.bodyHash !== place.bodyHash) continue;
      const id = entryIdOf(retry, creations[0].id, nowMillis);
      const [first, ...others] = creations;
      const before = entries.get(id);
      entries.set(id, {
        id,
        creationIds: [first.id, ...others.map((one) => one.id)],
        madeAt: before?.madeAt ?? nowMillis,
        seen: [...(before?.seen ?? []), firstSeen(retry.attempt)],
      });
    }
    return [...entries.values()].map((entry) => {
      const said = told.get(entry.id);
      return { ...entry, seen: [...entry.seen, ...(seen.get(entry.id) ?? [])], ...(said && { told: said }) };
    });
  };
  return {
    readHead: async (place) => {
      const entries = entriesAt(place);
      const byRetry = entries.filter((entry) => entry.seen[0] !== 0).length;
      return Promise.resolve(entries.length > 0 ? { made: entries.length, madeByRetry: byRetry } : undefined);
    },
    entries: async (place) => Promise.resolve(entriesAt(place)),
    attach: async ({ attempt }, { id }) => {
      seen.set(id, [...(seen.get(id) ?? []), attempt ?? 0]);
      told.delete(id);
      return Promise.resolve(true);
    },
    note: async (_place, { id }, said) => Promise.resolve(void told.set(id, said)),
  };
}

/** The images of the OpenAI-shaped endpoint over fakes of the ports: creations end as a test says. */
const aliases = { 'dall-e-2': 'sandbox-standard', 'gpt-image-1': 'sandbox-standard' };

/** The fields of a request's creation, by its index, after so many milliseconds. Absent fields stay. */
export type Course = (charged: NewCreation, place: number, sinceMillis: number) => Partial<CreationRecord>;

/** The picture of the creation with this index. */
export const pictureAt = (place: number): StoredImage => ({
  ...storedImage,
  key: `results/picture-${place}.png`,
});

/** Every creation completes after two seconds. */
export const completing: Course = (charged, place, sinceMillis) =>
  sinceMillis < 2_000
    ? { status: 'processing' }
    : {
        status: 'completed',
        completedAt: new Date(Date.parse(charged.createdAt) + 2_000).toISOString(),
        results: [pictureAt(place)],
        resultsExpireAt: Date.parse(charged.createdAt) + 86_400_000,
      };

/** It fails at once, and its charge is given back. */
export const failing =
  (failure: CreationRecord['failure'], more: Partial<CreationRecord> = {}): Course =>
  ({ costMicros }) => ({
    status: 'failed',
    ...(failure && { failure }),
    refundedMicros: costMicros,
    ...more,
  });

/** The bytes of a picture; its key stands in them. */
export const bytesOf = (key: string): Uint8Array => new TextEncoder().encode(`picture ${key}`);

export interface Scene {
  readonly stage: Stage;
  /** The keys of the pictures that were read, in order. */
  readonly read: readonly string[];
  /** Unix milliseconds at which the parts of the answers came. */
  readonly partsAt: readonly number[];
  readonly send: (sending: OpenaiSending) => Promise<OpenaiAnswer>;
  readonly generate: (body: object, headers?: Readonly<Record<string, string>>) => Promise<OpenaiAnswer>;
}

/** What a test sets beside how the creations go. */
export interface Setup {
  readonly setting?: Parameters<typeof accepting>[0];
  readonly images?: Partial<ImageStore>;
  /** Creations of an earlier request. */
  readonly earlier?: readonly NewCreation[];
  readonly services?: Partial<OpenaiImageServices>;
}

export function scene(course: Course = completing, setup: Setup = {}): Scene {
  const read: string[] = [];
  const partsAt: number[] = [];
  const stage = accepting({ ...setup.setting });
  const store: Partial<ImageStore> = {
    get: async (key) => {
      read.push(key);
      return Promise.resolve(bytesOf(key));
    },
    find: async (key) => Promise.resolve({ ...storedImage, key }),
    put: async () => Promise.resolve(),
    ...setup.images,
  };
  const creations = stub<CreationReads>({
    read: async (id) => {
      const all = [...(setup.earlier ?? []), ...stage.orders.flatMap((order) => order.creations)];
      const charged = all.find((one) => one.id === id);
      const place = all
        .filter(({ createdAt }) => createdAt === charged?.createdAt)
        .findIndex((one) => one.id === id);
      if (!charged) return Promise.resolve(undefined);
      const since = stage.clock.now() - Date.parse(charged.createdAt);
      return Promise.resolve({ ...charged, ...course(charged, place, since) });
    },
  });
  const retries = retriesOf(() => stage);
  let drawn = 0;
  const open = (): OpenaiImageServices =>
    Object.assign(stage.open(), {
      aliases,
      addresses: { api: 'https://api.test/api/public/v1', portal: 'https://portal.test/' },
      creations,
      retries,
      images: stub<ImageStore>(store),
      // Each id is another.
      randomBytes: (count: number) => Uint8Array.from({ length: count }, () => (drawn += 1) % 256),
      budget: startBudget(stage.clock, heldRequestMillis),
      ...setup.services,
    });
  const send = async (sending: OpenaiSending): Promise<OpenaiAnswer> =>
    received(inOpenaiForm(openaiImages, open, heldRequestMillis), sending, () =>
      partsAt.push(stage.clock.now()),
    );
  return {
    stage,
    read,
    partsAt,
    send,
    generate: async (body, headers = {}) =>
      send({
        method: 'POST',
        path: '/images/generations',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  };
}

/** What one picture of sandbox-standard costs. */
export const onePicture = asMicros(40_000);
export const base64Of = (key: string): string => Buffer.from(bytesOf(key)).toString('base64');
/** What an answer shows of the picture with this index when the request names no response_format. */
export const shownAt = (place: number): object => ({
  b64_json: base64Of(pictureAt(place).key),
  url: `https://results.test/${pictureAt(place).key}`,
});
