/** Fields and statuses of Black Forest Labs' answers for which the vendor's fake has no row. */
import { afterAll, describe, expect, it } from 'vitest';
import { createBfl } from '../../service/vendors/bfl.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of Black Forest Labs', () => {
  const submitted = (status: number, body: object): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createBfl(vendor.settings).submit(aJob({ sourceCount: 1 }), never);
  };
  const polled = (body: object, status = 200): Promise<ProviderAnswer> | undefined => {
    vendor.answerWith({ status, body });
    return createBfl(vendor.settings).poll?.(`0 ${vendor.url}/job`, aJob({ sourceCount: 1 }), never);
  };

  it.each<[unknown, string]>([
    [[{ type: 'value_error', loc: ['body', 'input_image'] }], 'source_image'],
    [[{ type: 'value_error', loc: ['body', 'input_image_2'] }], 'source_image'],
    [[{ type: 'value_error', loc: ['body', 'prompt'] }], 'unknown_answer'],
    [[{ type: 'value_error', loc: [7] }], 'unknown_answer'],
  ])('A 422 of Black Forest Labs with %j is refused as %s', async (detail, reason) => {
    expect(await submitted(422, { detail })).toEqual(refused(reason, 'HTTP 422 value_error'));
  });

  it.each([
    [200, {}],
    [201, { polling_url: `${vendor.url}/job` }],
    [422, { detail: 'a text' }],
  ])('A submission that Black Forest Labs answers with %i and %j is refused', async (status, body) => {
    expect(await submitted(status, body)).toEqual(refused('unknown_answer', `HTTP ${status}`));
  });

  it.each<[unknown, string]>([
    [{ 'Moderation Reasons': ['Image 2'] }, 'source_image'],
    [{ 'Moderation Reasons': ['Safety', 'input IMAGE'] }, 'source_image'],
    [{ 'Moderation Reasons': ['Imagery'] }, 'prompt'],
    [{ 'Moderation Reasons': ['An image'] }, 'prompt'],
    [{ 'Moderation Reasons': [7] }, 'prompt'],
    [{}, 'prompt'],
  ])('A moderated request with the details %j is refused as %s', async (details, reason) => {
    expect(await polled({ status: 'Request Moderated', details })).toEqual(
      refused(reason, 'HTTP 200 Request Moderated'),
    );
  });

  it('A moderated picture is refused for the prompt, whatever the reasons are', async () => {
    const body = { status: 'Content Moderated', details: { 'Moderation Reasons': ['Image 1'] } };
    expect(await polled(body)).toEqual(refused('prompt', 'HTTP 200 Content Moderated'));
  });

  it.each<[object, string, string]>([
    [{ status: 'Ready', result: {} }, 'nothing_rendered', 'HTTP 200 Ready'],
    [{ status: 'Ready', result: { sample: 7 } }, 'nothing_rendered', 'HTTP 200 Ready'],
    [{ status: 'Resting' }, 'unknown_answer', 'HTTP 200 Resting'],
    [{ status: 7 }, 'unknown_answer', 'HTTP 200'],
  ])('The answer %j of Black Forest Labs to a poll is refused as %s', async (body, reason, detail) => {
    expect(await polled(body)).toEqual(refused(reason, detail));
  });

  it('Black Forest Labs gets an empty prompt when the job has none', async () => {
    vendor.answerWith({ status: 429 });
    await createBfl(vendor.settings).submit(aJob({ prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ prompt: '' });
  });
});
