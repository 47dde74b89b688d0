/** The thumbnails of a result: when they are made, under which keys, and that their failure costs nothing else. */
import { describe, expect, it } from 'vitest';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import { renderImage } from '../../service/render/render-image.ts';
import { storeThumbnails } from '../../service/render/store-thumbnails.ts';
import type { Tasks } from '../../service/aws/step-functions.ts';
import { fakeClock, fakeLog, fakeProvider, pngBytes, stub } from '../api/fakes.ts';
import { aCreation, creationId, now, storedImage } from '../fixtures/records.ts';
import { renderServices, someThumbnails } from './walk-fixture.ts';

interface Setting {
  readonly thumbnails?: () => Promise<typeof someThumbnails>;
  readonly put?: () => Promise<void>;
  readonly note?: () => Promise<boolean>;
}

const gone = async (): Promise<never> => Promise.reject(new TypeError('gone'));

function stage({ thumbnails, put, note }: Setting = {}) {
  const [steps, log, clock] = [[] as unknown[], fakeLog(), fakeClock()];
  const step = async <Result>(text: string, result: Result): Promise<Result> => {
    steps.push(text);
    return Promise.resolve(result);
  };
  const services = renderServices({
    ...{ log, clock },
    resultDays: 7,
    thumbnails: async () =>
      step('make', undefined).then(thumbnails ?? (async () => Promise.resolve(someThumbnails))),
    imagesUntil: () =>
      stub<ImageStore>({
        put: async ({ key, contentType }: StoredImage, _bytes, until = 0) =>
          step(`put ${key} ${contentType} ${until - now}`, undefined).then(put),
        remove: async (keys: readonly string[]) => step(`remove ${keys.join(' ')}`, undefined),
      }),
    images: stub<ImageStore>({ put: async () => step('put', undefined) }),
    creations: stub<CreationStore>({
      lease: async () =>
        step('lease', {
          kind: 'leased',
          creation: aCreation({ routes: [{ provider: 'one', providerModel: 'a' }], isWatched: true }),
          turn: 1,
        }),
      renewLease: async () => Promise.resolve(true),
      saveAttempts: async () => Promise.resolve(true),
      complete: async () => step('complete', 'completed' as const),
      read: async () => step('webhook', undefined),
      noteThumbnails: async (_id, colours) => step(`note ${colours.slice(0, 6)}`, true).then(note),
    }),
    tasks: stub<Tasks>({ succeed: async () => step('succeed', 'ended' as const) }),
    providers: new Map([['one', fakeProvider('one', { kind: 'rendered', bytes: pngBytes })]]),
  });
  return { services, steps, log };
}

const weekMillis = 7 * 86_400_000;
const stored = { image: storedImage, bytes: pngBytes };

describe('the thumbnails of a result', () => {
  it('They are made last: after the commit, the webhook and the end of the task', async () => {
    const { services, steps } = stage();
    await renderImage({ creation_id: creationId, task_token: 'token' }, 'request-1', services);
    expect(steps.slice(0, 6)).toEqual(['lease', 'put', 'complete', 'webhook', 'succeed', 'make']);
    expect(steps).toHaveLength(9);
  });

  it('They are WebP files beside the result, with its life, and then the record has their colours', async () => {
    const { services, steps } = stage();
    await storeThumbnails(creationId, stored, services);
    expect(steps).toEqual([
      'make',
      `put results/unguessable-96.webp image/webp ${weekMillis}`,
      `put results/unguessable-480.webp image/webp ${weekMillis}`,
      'note 243b55',
    ]);
  });

  it('Those of a result that was deleted meanwhile are taken back', async () => {
    const { services, steps, log } = stage({ note: async () => Promise.resolve(false) });
    await storeThumbnails(creationId, stored, services);
    expect(steps.at(-1)).toBe('remove results/unguessable-96.webp results/unguessable-480.webp');
    expect(log.entries).toEqual([]);
  });

  it.each<[string, Setting, number]>([
    ['the picture is of a kind that is not read', { thumbnails: gone }, 1],
    ['the bucket refuses them', { put: gone }, 3],
    ['the table is too busy for the colours', { note: gone }, 4],
  ])('When %s, a line of the log is all', async (_, setting, count) => {
    const { services, steps, log } = stage(setting);
    await storeThumbnails(creationId, stored, services);
    expect(steps).toHaveLength(count);
    expect(log.entries).toEqual([['info thumbnails_not_made', { creationId, error: 'TypeError' }]]);
  });

  it('A run that found the image of an earlier run makes none', async () => {
    const { services, steps } = stage();
    await storeThumbnails(creationId, { image: storedImage }, services);
    await storeThumbnails(creationId, undefined, services);
    expect(steps).toEqual([]);
  });

  it('An operator who wants none gets none', async () => {
    const { services, steps } = stage();
    await storeThumbnails(creationId, stored, { ...services, thumbnails: undefined });
    expect(steps).toEqual([]);
  });
});
