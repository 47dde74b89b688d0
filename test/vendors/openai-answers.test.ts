/** Fields and statuses of OpenAI's answers for which the vendor's fake has no row. */
import { afterAll, describe, expect, it } from 'vitest';
import { createOpenai } from '../../service/vendors/openai.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of OpenAI', () => {
  const answerTo = (body: object, status = 400): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createOpenai(vendor.settings).submit(aJob(), never);
  };

  it.each<[string, object, string]>([
    ['the field image', { param: 'image' }, 'source_image'],
    ['the field image[0]', { param: 'image[0]' }, 'source_image'],
    ['the field images_total', { param: 'images_total' }, 'unknown_answer'],
    ['the field mask_image', { param: 'mask_image' }, 'unknown_answer'],
    [
      'the field prompt, and an image in its text',
      { param: 'prompt', message: 'Invalid image file' },
      'unknown_answer',
    ],
    ['an image file in its text', { message: 'Invalid image file or mode' }, 'source_image'],
    ['an image field in its text', { message: "Invalid file 'image': unsupported" }, 'source_image'],
    [
      'an image file in its text, and an empty field',
      { param: '', message: 'Invalid image file' },
      'source_image',
    ],
    ['an image in the middle of its text', { message: 'Not an Invalid image file' }, 'unknown_answer'],
    [
      'an image in its text beside a code',
      { code: 'new_code', message: 'Invalid image file' },
      'unknown_answer',
    ],
    [
      'the field image, although it is a policy',
      { code: 'moderation_blocked', param: 'image' },
      'source_image',
    ],
    [
      'the field image, although it is our bill',
      { code: 'insufficient_quota', param: 'image' },
      'credentials',
    ],
  ])('An error of OpenAI that names %s is refused', async (_what, error, reason) => {
    expect(await answerTo({ error })).toMatchObject({ kind: 'refused', reason });
  });

  it.each([
    [499, 'unknown_answer'],
    [500, 'failed'],
    [502, 'failed'],
  ])('An error of OpenAI with status %i and no code is refused as %s', async (status, reason) => {
    expect(await answerTo({ error: {} }, status)).toEqual(refused(reason, `HTTP ${status}`));
  });

  it.each<[object, string]>([
    [{ data: [] }, 'nothing_rendered'],
    [{ data: [{ b64_json: '' }] }, 'nothing_rendered'],
    [{ data: [{ b64_json: 7 }] }, 'unknown_answer'],
    [{ data: [{}] }, 'unknown_answer'],
    [{ data: {} }, 'unknown_answer'],
    [{}, 'unknown_answer'],
  ])('The answer %j of OpenAI is refused as %s', async (body, reason) => {
    expect(await answerTo(body, 200)).toEqual(refused(reason, 'HTTP 200'));
  });

  it('OpenAI gets an empty prompt when the job has none', async () => {
    vendor.answerWith({ status: 429 });
    await createOpenai(vendor.settings).submit(aJob({ prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ prompt: '' });
  });
});
