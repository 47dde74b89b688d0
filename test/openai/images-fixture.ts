/** The images of the OpenAI-shaped endpoint over fakes of the ports: creations end as a test says. */
import { heldRequestMillis } from '../../service/contract/limits.ts';
import type { NewCreation } from '../../service/creations/charges.ts';
import type { CreationReads } from '../../service/creations/creation-reads.ts';
import type { CreationRecord, StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { OpenaiImageServices } from '../../service/openai/open.ts';
import { openaiImages } from '../../service/openai/openai-images.ts';
import { inOpenaiForm } from '../../service/openai/serve-openai.ts';
import { asMicros } from '../../service/values/money.ts';
import { startBudget } from '../../service/values/time.ts';
import { stub } from '../api/fakes.ts';
import { accepting, type Stage } from '../api/serve-fixture.ts';
import { storedImage } from '../fixtures/records.ts';
import { type OpenaiAnswer, type OpenaiSending, received } from './openai-fixture.ts';
import { retriesOf } from './retries-fixture.ts';

const aliases = { 'dall-e-2': 'sandbox-standard', 'gpt-image-1': 'sandbox-standard' };

/** How the creation at a place of the request is after so many milliseconds. Absent fields stay. */
export type Course = (charged: NewCreation, place: number, sinceMillis: number) => Partial<CreationRecord>;

/** The picture of the creation at this place. */
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
