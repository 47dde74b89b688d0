/** The thumbnails of a result, from the request until they are gone. */
import { afterAll, describe, expect, it } from 'vitest';
import { type PictureView } from '../../service/contract/portal-views.ts';
import { creationRow } from '../../service/portal/creation-view.ts';
import { readImageHeader } from '../../service/values/image-bytes.ts';
import { startTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { recordOf, recordWhen, submit } from './workflow/creations.ts';

const service = await startTestService({ environment: { THUMBNAILS: 'on' } });
const client = await service.client();
afterAll(() => service.end());

const noteOf = async (id: string): Promise<PictureView> => {
  const record = await recordWhen(service, id, ({ colours }) => colours !== undefined);
  const showing = {
    keyNames: new Map(),
    addressOf: await service.operator.results.of([]),
    nowMillis: service.operator.clock.now(),
  };
  const { picture } = creationRow(record, showing);
  if (!picture) throw new Error('the creation has no picture');
  return picture;
};

describe('the thumbnails of a result', () => {
  it.each(['png', 'jpeg'])(
    'A %s has two WebP files beside it, with its life, which go with it',
    async (output_format) => {
      const id = await submit(service, client.key, {
        prompt: 'a lake at dawn',
        output_format,
        aspect_ratio: '3:2',
      });
      const picture = await noteOf(id);
      expect(picture.colours).toHaveLength(9);
      expect(picture.colours.join('')).toMatch(/^(#[0-9a-f]{6}){9}$/);
      const original = await fetch(picture.url);
      const urls = [picture.small_url ?? '', picture.large_url ?? ''];
      for (const [url, side, most] of [
        [urls[0], 96, 3_000],
        [urls[1], 480, 12_000],
      ] as const) {
        const form = await fetch(url ?? '');
        expect([form.status, form.headers.get('content-type')]).toEqual([200, 'image/webp']);
        expect(form.headers.get('cache-control')).toBe(original.headers.get('cache-control'));
        expect(
          Date.parse(form.headers.get('expires') ?? '') - Date.parse(original.headers.get('expires') ?? ''),
        ).toBeLessThan(60_000);
        const bytes = new Uint8Array(await form.arrayBuffer());
        expect(bytes.length).toBeLessThanOrEqual(most);
        const scale = Math.min(1, side / Math.max(picture.width, picture.height));
        expect(readImageHeader(bytes)).toEqual({
          contentType: 'image/webp',
          width: Math.round(picture.width * scale),
          height: Math.round(picture.height * scale),
        });
      }
      expect((await service.send(`/creations/${id}`, { key: client.key, method: 'DELETE' })).status).toBe(
        204,
      );
      expect(await Promise.all(urls.map(async (url) => (await fetch(url)).status))).toEqual([403, 403]);
      expect(await recordOf(service, id)).not.toHaveProperty('colours');
    },
  );

  it('Those that are stored after the erasure are taken back, and the record learns nothing of them', async () => {
    const erased = Promise.withResolvers<undefined>();
    const puts: string[] = [];
    service.machine.interceptAws(async (call, serve) => {
      const key = String(call.input['Key']);
      if (call.operation !== 'PutObject' || !/-(96|480)\.webp$/.test(key)) return serve();
      await erased.promise;
      const answer = await serve();
      puts.push(key);
      return answer;
    });
    const id = await submit(service, client.key, { prompt: 'a lake' });
    await service.ended(id);
    expect((await service.send(`/creations/${id}`, { key: client.key, method: 'DELETE' })).status).toBe(204);
    erased.resolve(undefined);
    await expect.poll(() => puts.length).toBe(2);
    service.machine.interceptAws((_call, serve) => serve());
    const urls = puts.map((key) => `${service.operator.raw.resultsBaseUrl}/${key}`);
    const statuses = () => Promise.all(urls.map(async (url) => (await fetch(url)).status));
    await expect.poll(statuses).toEqual([403, 403]);
    expect(await recordOf(service, id)).not.toHaveProperty('colours');
  });
});

everyAnswer(() => service);
