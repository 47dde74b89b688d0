/**
 * The words and statuses by which vendors refuse a job, and their meanings: every entry of the adapters'
 * tables.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { type Reply, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import { createBedrock } from '../../service/vendors/bedrock.ts';
import { createGoogle } from '../../service/vendors/google.ts';
import { createOpenai } from '../../service/vendors/openai.ts';
import type { ImageProvider, ProviderCredentials } from '../../service/vendors/provider.ts';
import { refused } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';

const never = new AbortController().signal;
const credentials: ProviderCredentials = {
  read: async () => Promise.resolve('a-key-of-the-test'),
  forget: () => undefined,
};

let reply: Reply = { status: 200 };
const vendor = await startFakeVendor(() => reply);
afterAll(() => vendor.stop());

const providers = {
  google: createGoogle({ name: 'google', credentials, clock: systemClock, baseUrl: vendor.url }),
  openai: createOpenai({ name: 'openai', credentials, clock: systemClock, baseUrl: vendor.url }),
  bedrock: createBedrock({
    name: 'bedrock',
    region: 'us-west-2',
    endpoint: vendor.url,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  }),
} as const satisfies Readonly<Record<string, ImageProvider>>;

async function refusal(name: keyof typeof providers, answer: Reply): Promise<unknown> {
  reply = answer;
  const job = jobsLike({ providerModel: 'model', outputFormat: name === 'google' ? 'jpeg' : 'png' })();
  return providers[name].submit(job, never);
}

type Row = readonly [word: string, reason: RefusalReason];

describe('A candidate of Gemini without a picture', () => {
  const rows: readonly Row[] = [
    ['STOP', 'nothing_rendered'],
    ['NO_IMAGE', 'nothing_rendered'],
    ['IMAGE_OTHER', 'failed'],
    ['OTHER', 'failed'],
    ['IMAGE_SAFETY', 'prompt'],
    ['IMAGE_PROHIBITED_CONTENT', 'prompt'],
    ['IMAGE_RECITATION', 'prompt'],
    ['PROHIBITED_CONTENT', 'prompt'],
    ['SAFETY', 'prompt'],
    ['RECITATION', 'prompt'],
    ['BLOCKLIST', 'prompt'],
    ['SPII', 'prompt'],
    ['MAX_TOKENS', 'unknown_answer'],
    ['constructor', 'unknown_answer'],
  ];
  it.each(rows)('A candidate that ended by %s is refused as %s', async (finishReason, reason) => {
    const answer = await refusal('google', {
      status: 200,
      body: { candidates: [{ finishReason, content: { parts: [] } }] },
    });
    expect(answer).toEqual({ kind: 'refused', reason, detail: `HTTP 200 ${finishReason}` });
  });
});

describe('An error of Gemini', () => {
  it.each<readonly [number, RefusalReason]>([
    [401, 'credentials'],
    [402, 'credentials'],
    [403, 'credentials'],
    [404, 'credentials'],
    [413, 'source_image'],
    [429, 'unavailable'],
    [500, 'failed'],
    [501, 'failed'],
    [502, 'failed'],
    [503, 'unavailable'],
    [504, 'timed_out'],
    [418, 'unknown_answer'],
  ])('An error of Gemini with status %i is refused as %s', async (status, reason) => {
    expect(await refusal('google', { status, body: { error: { status: 'A_WORD' } } })).toEqual(
      refused(reason, `HTTP ${status} A_WORD`),
    );
  });
});

describe('An error of OpenAI', () => {
  it.each<Row>([
    ['moderation_blocked', 'prompt'],
    ['content_policy_violation', 'prompt'],
    ['invalid_image_file', 'source_image'],
    ['unsupported_file_mimetype', 'source_image'],
    ['insufficient_quota', 'credentials'],
    ['billing_hard_limit_reached', 'credentials'],
    ['project_spend_limit_exceeded', 'credentials'],
    ['model_not_found', 'credentials'],
    ['constructor', 'unknown_answer'],
  ])('An error of OpenAI with the code %s is refused as %s', async (code, reason) => {
    expect(await refusal('openai', { status: 400, body: { error: { code } } })).toMatchObject({
      kind: 'refused',
      reason,
    });
  });

  it.each<readonly [number, RefusalReason]>([
    [401, 'credentials'],
    [402, 'credentials'],
    [403, 'credentials'],
    [413, 'source_image'],
    [429, 'unavailable'],
    [499, 'unknown_answer'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'unavailable'],
  ])('An error of OpenAI with status %i is refused as %s', async (status, reason) => {
    expect(await refusal('openai', { status, body: { error: {} } })).toMatchObject(
      refused(reason, `HTTP ${status}`),
    );
  });
});

describe('An answer of Bedrock without a picture', () => {
  it.each<Row>([
    ['Filter reason: prompt', 'prompt'],
    ['Filter reason: output image', 'prompt'],
    ['Filter reason: input image', 'source_image'],
    ['Inference error', 'failed'],
    ['constructor', 'unknown_answer'],
  ])('An answer that ended by "%s" is refused as %s', async (finish, reason) => {
    expect(await refusal('bedrock', { status: 200, body: { finish_reasons: [finish] } })).toEqual(
      refused(reason, `HTTP 200 ${finish}`),
    );
  });

  it.each<readonly [string, object, RefusalReason]>([
    ['an empty picture', { finish_reasons: [null], images: [''] }, 'nothing_rendered'],
    ['no picture', { finish_reasons: [null], images: [] }, 'nothing_rendered'],
    ['a picture that is no text', { finish_reasons: [null], images: [7] }, 'unknown_answer'],
    ['no list of pictures', { finish_reasons: [null] }, 'unknown_answer'],
  ])('An answer with %s is refused, and only its status is told', async (_what, body, reason) => {
    expect(await refusal('bedrock', { status: 200, body })).toEqual(refused(reason, 'HTTP 200'));
  });
});
