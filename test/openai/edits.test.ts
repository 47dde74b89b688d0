import { describe, expect, it } from 'vitest';
import type { StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { UploadReader } from '../../service/uploads/upload-store.ts';
import { pngBytes, pngOf, stub } from '../api/fakes.ts';
import { completing, type OpenaiAnswer, scene, type Scene, type Setup, shownAt } from './openai-fixture.ts';

type Part = readonly [head: string, value: string | Uint8Array];
const field = (name: string, value: string): Part => [
  `Content-Disposition: form-data; name="${name}"`,
  value,
];
const file = (name: string, bytes: Uint8Array = pngBytes): Part => [
  `Content-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png`,
  bytes,
];

/** A form as a library writes it. */
function formOf(parts: readonly Part[], boundary = 'XbX'): Uint8Array {
  const lines = parts.flatMap(([head, value]) => [`--${boundary}\r\n${head}\r\n\r\n`, value, '\r\n']);
  return Buffer.concat([...lines, `--${boundary}--\r\n`].map((line) => Buffer.from(line as string)));
}

const edit = async ({ send }: Scene, parts: readonly Part[], contentType?: string): Promise<OpenaiAnswer> =>
  send({
    method: 'POST',
    path: '/images/edits',
    headers: { 'Content-Type': contentType ?? 'multipart/form-data; boundary=XbX' },
    body: formOf(parts),
  });
const editJson = async ({ send }: Scene, body: unknown): Promise<OpenaiAnswer> =>
  send({
    method: 'POST',
    path: '/images/edits',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const base = [field('model', 'sandbox-standard'), field('prompt', 'add a moon')];
const ok = { model: 'sandbox-standard', prompt: 'add a moon' };

/** A scene that keeps what was stored in the bucket. */
function storing(setup: Setup = {}): { readonly scene: Scene; readonly stored: [StoredImage, Uint8Array][] } {
  const stored: [StoredImage, Uint8Array][] = [];
  const put: ImageStore['put'] = async (image, bytes) => Promise.resolve(void stored.push([image, bytes]));
  return { stored, scene: scene(completing, { ...setup, images: { put, ...setup.images } }) };
}

describe('POST /images/edits in a form', () => {
  it('Files become source images in their order, after the same checks, and each is paid for', async () => {
    const { scene: it, stored } = storing();
    const second = pngOf(640, 480);
    const answer = await edit(it, [...base, file('image[]'), field('n', '2'), file('image[]', second)]);
    expect(answer).toMatchObject({ status: 200, headers: { 'x-darkroom-cost': '0.1' } });
    expect(answer.body['data']).toEqual([shownAt(0), shownAt(1)]);
    expect(stored.map(([{ width, height, contentType }]) => [width, height, contentType])).toEqual([
      [64, 64, 'image/png'],
      [640, 480, 'image/png'],
    ]);
    expect(stored.map(([, bytes]) => Buffer.from(bytes))).toEqual([
      Buffer.from(pngBytes),
      Buffer.from(second),
    ]);
    const creations = it.stage.orders[0]?.creations ?? [];
    expect(creations.map(({ sources }) => sources.map(({ width }) => width))).toEqual([
      [64, 640],
      [64, 640],
    ]);
    expect(it.stage.fetched).toEqual([]);
  });

  it('A mask is kept beside the first image, changes no price, and makes another request', async () => {
    const { scene: it, stored } = storing();
    const bytes = Buffer.concat([pngBytes, Buffer.from('mask')]);
    const parts = [...base, file('image'), file('mask', bytes)];
    const answer = await edit(it, parts);
    expect(answer).toMatchObject({ status: 200, headers: { 'x-darkroom-cost': '0.045' } });
    expect(answer.headers['x-darkroom-ignored']).toBeUndefined();
    expect(stored.map(([, kept]) => Buffer.from(kept).equals(bytes))).toEqual([false, true]);
    const [creation] = it.stage.orders[0]?.creations ?? [];
    expect(creation).toMatchObject({ sources: [stored[0]?.[0]], mask: stored[1]?.[0] });
    const hashOf = async (sent: readonly Part[]): Promise<unknown> => {
      const other = scene();
      await edit(other, sent);
      return other.stage.orders[0]?.retry?.place.bodyHash;
    };
    const asImage = [...base, file('image'), file('image', bytes)];
    expect(await hashOf(parts)).not.toEqual(await hashOf(asImage));
  });

  it.each(['image', 'image[]', 'image[0]'])('A file may be named %s', async (name) => {
    expect(await edit(scene(), [...base, file(name)])).toMatchObject({ status: 200 });
  });

  it('An edit may be streamed, under an event of its own', async () => {
    const answer = await edit(scene(), [...base, file('image'), field('stream', 'true')]);
    expect(answer.text).toContain('event: image_edit.completed\ndata: {"type":"image_edit.completed"');
  });

  it.each<[string, readonly Part[], string, string]>([
    [
      'A mask of another size',
      [...base, file('image'), file('mask', pngOf(65, 64))],
      'mask',
      'err_invalid_request',
    ],
    ['A mask that is a text', [...base, file('image'), field('mask', 'x')], 'mask', 'unsupported_value'],
    [
      'A mask for a model that takes none',
      [field('model', 'gpt-image-2'), field('prompt', 'p'), file('image'), file('mask')],
      'mask',
      'unsupported_parameter',
    ],
    [
      'A size of another ratio than that of the masked image',
      [...base, file('image'), file('mask'), field('size', '1536x1024')],
      'aspect_ratio',
      'err_invalid_request',
    ],
    ['No image', base, 'image', 'err_invalid_request'],
    ['A text in the place of a file', [...base, field('image', 'x')], 'image', 'unsupported_parameter'],
    ['A list in a form', [...base, file('image'), field('images', '[]')], 'images', 'unsupported_parameter'],
    ['A file that is no image', [...base, file('image', new Uint8Array(9))], 'image', 'err_invalid_request'],
    ['An image that is too small', [...base, file('image', pngOf(63, 64))], 'image', 'err_invalid_request'],
    [
      'More images than the model takes',
      [...base, ...Array.from({ length: 5 }, () => file('image[]'))],
      'image',
      'err_invalid_request',
    ],
    [
      'More images than any model takes',
      [...base, ...Array.from({ length: 11 }, () => file('image[]'))],
      'image',
      'err_invalid_request',
    ],
    [
      'A model that takes no image',
      [field('model', 'sandbox-sketch'), field('prompt', 'p'), file('image')],
      'image',
      'err_invalid_request',
    ],
    ['A number that is none', [...base, file('image'), field('n', 'two')], 'n', 'err_invalid_request'],
  ])('%s is 400 and nothing is charged', async (_what, parts, param, code) => {
    const it = scene();
    expect(await edit(it, parts)).toMatchObject({
      status: 400,
      headers: { 'x-should-retry': 'false' },
      body: { error: { param, code } },
    });
    expect(it.stage.orders).toEqual([]);
  });

  it('Images of more than 4.4 MB together are 413 with the way to send them', async () => {
    const large = Buffer.concat([pngBytes, new Uint8Array(2_200_000)]);
    const answer = await edit(scene(), [...base, file('image[]', large), file('image[]', large)]);
    expect(answer).toMatchObject({
      status: 413,
      headers: { 'x-should-retry': 'false' },
      body: { error: { type: 'invalid_request_error', code: 'request_too_large', param: 'image' } },
    });
    expect(answer.body.error?.message).toContain('POST /api/public/v1/uploads');
    const fits = Buffer.concat([pngBytes, new Uint8Array(4_400_000 - pngBytes.length)]);
    expect(await edit(scene(), [...base, file('image', fits)])).toMatchObject({ status: 200 });
  });

  it('A form that cannot be read, and a body of another type, are 400', async () => {
    expect(await edit(scene(), base, 'multipart/form-data; boundary=other')).toMatchObject({ status: 400 });
    expect(await edit(scene(), base, 'text/plain')).toMatchObject({
      status: 400,
      body: { error: { param: 'Content-Type' } },
    });
  });
});

describe('POST /images/edits in JSON', () => {
  const data = `data:image/png;base64,${Buffer.from(pngBytes).toString('base64')}`;

  it('An address is fetched, and a data: address holds the picture itself', async () => {
    const fetchSource = async () => Promise.resolve({ kind: 'fetched', bytes: pngOf(100, 80) } as const);
    const { scene: it, stored } = storing({ setting: { fetchSource } });
    const images = [{ image_url: 'https://a.test/1.png' }, { image_url: data }];
    expect(await editJson(it, { ...ok, images })).toMatchObject({ status: 200 });
    expect(it.stage.fetched).toEqual(['https://a.test/1.png']);
    expect(stored.map(([{ width }]) => width)).toEqual([100, 64]);
  });

  it('An upload of the account is taken', async () => {
    const id = '019aa5a0-1000-7000-8000-00000000000c' as never;
    const uploads = stub<UploadReader>({
      usable: async (accountId) =>
        Promise.resolve([
          {
            id,
            accountId,
            contentType: 'image/png' as const,
            bytes: 9,
            key: 'uploads/a.png',
            expiresAt: Infinity,
          },
        ]),
    });
    const upload = async (): Promise<Uint8Array> => Promise.resolve(pngBytes);
    const { scene: it, stored } = storing({ images: { upload }, services: { uploads } });
    expect(await editJson(it, { ...ok, images: [{ image_url: `upload:${String(id)}` }] })).toMatchObject({
      status: 200,
    });
    expect(stored).toHaveLength(1);
    expect(it.stage.orders[0]?.uploads).toEqual([id]);
  });

  it.each<[string, unknown, string]>([
    ['an address that is not public', [{ image_url: 'http://10.0.0.1/a.png' }], 'image'],
    ['a name of our own', [{ image_url: '#0' }], 'image'],
    ['a file of OpenAI', [{ file_id: 'file-1' }], 'image'],
    ['a data: address without base64', [{ image_url: 'data:image/png,abc' }], 'image'],
    ['a data: address that holds no image', [{ image_url: 'data:image/png;base64,AAAA' }], 'image'],
    ['a text', 'https://a.test/1.png', 'image'],
    ['an empty list', [], 'image'],
  ])('%s is 400', async (_what, images, param) => {
    const it = scene();
    expect(await editJson(it, { ...ok, images })).toMatchObject({ status: 400, body: { error: { param } } });
    expect(it.stage.orders).toEqual([]);
  });

  it('A body of more than 6 MB is 413, whatever is in it', async () => {
    const answer = await editJson(scene(), {
      ...ok,
      images: [{ image_url: data }],
      padding: 'x'.repeat(6_000_000),
    });
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'request_too_large' } } });
  });

  it('No byte of an image is in the log', async () => {
    const { scene: it } = storing();
    await editJson(it, { ...ok, images: [{ image_url: data }] });
    expect(it.stage.log.text()).not.toContain(Buffer.from(pngBytes).toString('base64').slice(0, 12));
  });
});

describe('the same edit again', () => {
  it('The names of files and the boundary make no difference, and a byte does', async () => {
    const hashOf = async (parts: readonly Part[], boundary = 'XbX'): Promise<string | undefined> => {
      const it = scene();
      await it.send({
        method: 'POST',
        path: '/images/edits',
        headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Idempotency-Key': 'k' },
        body: formOf(parts, boundary),
      });
      return it.stage.orders[0]?.idempotency?.requestHash;
    };
    const hash = await hashOf([...base, file('image')]);
    expect(hash).toBeDefined();
    expect(await hashOf([file('image[]'), ...base], 'other')).toBe(hash);
    expect(await hashOf([...base, file('image', pngOf(65, 64))])).not.toBe(hash);
  });
});
