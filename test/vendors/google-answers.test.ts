/** Fields and statuses of Gemini's answers for which the vendor's fake has no row. */
import { afterAll, describe, expect, it } from 'vitest';
import { createGoogle } from '../../service/vendors/google.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of Gemini', () => {
  const answerTo = (body: object, status = 200): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createGoogle(vendor.settings).submit(aJob(), never);
  };
  const candidate = (parts: readonly object[], finishReason?: string): object => ({
    candidates: [{ finishReason, content: { parts } }],
  });
  const picture = (data: unknown, more: object = {}): object => ({ inlineData: { data }, ...more });

  it('The picture of Gemini is the last one that is neither a thought nor empty', async () => {
    const parts = [
      picture('YQ=='),
      picture('Yg=='),
      picture('Yw==', { thought: true }),
      picture(''),
      picture(7),
    ];
    expect(await answerTo(candidate(parts, 'STOP'))).toEqual({ kind: 'rendered', bytes: Buffer.from('b') });
  });

  it.each<[string, object, string, string]>([
    ['a picture and another end', candidate([picture('YQ==')], 'OTHER'), 'failed', 'HTTP 200 OTHER'],
    ['a picture and no end', candidate([picture('YQ==')]), 'unknown_answer', 'HTTP 200'],
    [
      'only a thought',
      candidate([picture('YQ==', { thought: true })], 'STOP'),
      'nothing_rendered',
      'HTTP 200 STOP',
    ],
  ])('An answer of Gemini with %s is refused', async (_what, body, reason, detail) => {
    expect(await answerTo(body)).toEqual(refused(reason, detail));
  });

  it.each<[object, string, string]>([
    [{ status: 'FAILED_PRECONDITION' }, 'credentials', 'HTTP 400 FAILED_PRECONDITION'],
    [
      { status: 'X', details: [{}, { reason: 'API_KEY_INVALID' }] },
      'credentials',
      'HTTP 400 API_KEY_INVALID',
    ],
    [{ status: 'X', message: 'Provided image is not valid.' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Unable to process input image.' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Request payload size exceeds the limit' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Something else' }, 'unknown_answer', 'HTTP 400 X'],
    [{ status: 'X' }, 'unknown_answer', 'HTTP 400 X'],
  ])('A 400 of Gemini with %j is refused as %s', async (error, reason, detail) => {
    expect(await answerTo({ error }, 400)).toEqual(refused(reason, detail));
  });
});
