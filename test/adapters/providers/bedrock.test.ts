import { AwsClient } from 'aws4fetch';
import { afterAll, describe, expect, it } from 'vitest';
import { checkBedrock } from '../../../adapters/providers/bedrock/check.ts';
import { createBedrock } from '../../../adapters/providers/bedrock/provider.ts';
import type { AspectRatio } from '../../../core/image-formats.ts';
import type { ProviderAnswer, RenderJob } from '../../../core/provider.ts';
import { bedrockRows } from '../../../tools/vendors/fakes/bedrock/rows.ts';
import { fakeBedrockIdentity, startFakeBedrock } from '../../../tools/vendors/fakes/bedrock/server.ts';
import { startFakeVendor } from '../../../tools/vendors/fakes/fake-vendor.ts';
import { headerOf, jobsLike, lastReceived, notReached, outcomeOf } from './vendor-talk.ts';

const never = new AbortController().signal;
const prompt = 'A lighthouse that nobody may read about';
const region = 'us-west-2';

const fake = await startFakeBedrock();
afterAll(() => fake.stop());

const aJob = jobsLike({
  providerModel: 'stability.stable-image-core-v1:1',
  prompt,
  readSources: async () => Promise.reject(new Error('nobody reads the source images')),
});

async function submit(job: RenderJob, credentials = fakeBedrockIdentity): Promise<ProviderAnswer> {
  return createBedrock({ name: 'bedrock', region, endpoint: fake.url, credentials }).submit(job, never);
}

describe('what Bedrock answers', () => {
  it.each(bedrockRows)('$row: $says', async ({ row, answers }) => {
    const before = fake.received.length;
    const answer = await submit(aJob({ prompt: `${prompt} [row:${row}]` }));
    expect(outcomeOf(answer)).toBe(answers);
    if (answer.kind === 'refused') expect(answer.detail).toMatch(/^(HTTP \d{3}( [\w: ]+)?|[A-Z_]+)$/);
    // Whatever it says, it is asked once: a second time would be rendered and paid again.
    expect(fake.received.length).toBe(before + 1);
  });

  it.each(['png', 'jpeg'] as const)('is the picture that was asked for, as %s', async (outputFormat) => {
    const answer = await submit(aJob({ outputFormat, aspectRatio: '16:9' }));
    expect(headerOf(answer)).toEqual({ contentType: `image/${outputFormat}`, width: 1344, height: 768 });
  });

  it('to a role without rights is told as what only a person can put right', async () => {
    expect(await submit(aJob({ prompt: 'A cat [row:access-denied]' }))).toEqual({
      kind: 'refused',
      reason: 'credentials',
      detail: 'HTTP 403 AccessDeniedException',
    });
  });
});

describe('what Bedrock is asked for', () => {
  it('is an InvokeModel of the model, signed with the role and its session', async () => {
    await submit(
      aJob({
        providerModel: 'stability.sd3-5-large-v1:0',
        aspectRatio: '21:9',
        outputFormat: 'jpeg',
        seed: 7,
      }),
    );
    const { method, path, headers, json } = lastReceived(fake);
    expect([method, path]).toEqual(['POST', '/model/stability.sd3-5-large-v1%3A0/invoke']);
    expect([headers['content-type'], headers['accept'], headers['x-amz-security-token']]).toEqual([
      'application/json',
      'application/json',
      'fake-bedrock-session',
    ]);
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=FAKEBEDROCKID\/\d{8}\/us-west-2\/bedrock\/aws4_request, /,
    );
    expect(json).toEqual({
      prompt,
      mode: 'text-to-image',
      aspect_ratio: '21:9',
      output_format: 'jpeg',
      seed: 7,
    });
  });

  it('has no seed where the job has none', async () => {
    await submit(aJob());
    expect(lastReceived(fake).json).toEqual({
      prompt,
      mode: 'text-to-image',
      aspect_ratio: '1:1',
      output_format: 'png',
    });
  });

  it.each<AspectRatio>(['1:1', '3:2', '2:3', '5:4', '4:5', '16:9', '9:16', '21:9'])(
    'is something that it takes for %s',
    async (aspectRatio) => {
      // The fake looks at every field before it is "throttled".
      expect(await submit(aJob({ prompt: 'A cat [row:throttled]', aspectRatio }))).toMatchObject({
        reason: 'unavailable',
      });
    },
  );

  it('is never a picture of source images', async () => {
    const before = fake.received.length;
    expect(await submit(aJob({ sourceCount: 1 }))).toMatchObject({ reason: 'unknown_answer' });
    expect(fake.received.length).toBe(before);
  });
});

describe('a call to Bedrock', () => {
  it.each([
    ['another key id', { ...fakeBedrockIdentity, accessKeyId: 'OTHER' }, 'UnrecognizedClientException'],
    ['another secret', { ...fakeBedrockIdentity, secretAccessKey: 'other' }, 'InvalidSignatureException'],
    ['another session', { ...fakeBedrockIdentity, sessionToken: 'other' }, 'UnrecognizedClientException'],
  ])('signed with %s is refused for its credentials', async (_, identity, code) => {
    expect(await submit(aJob(), identity)).toEqual({
      kind: 'refused',
      reason: 'credentials',
      detail: `HTTP 403 ${code}`,
    });
  });

  it('without any credentials is refused for them, and not made', async () => {
    const before = fake.received.length;
    const none = (): never => {
      throw Object.assign(new Error('Could not load credentials from any providers'), {
        name: 'CredentialsProviderError',
      });
    };
    const provider = createBedrock({
      name: 'bedrock',
      region,
      endpoint: fake.url,
      credentials: none as unknown as typeof fakeBedrockIdentity,
    });
    expect(await provider.submit(aJob(), never)).toEqual({
      kind: 'refused',
      reason: 'credentials',
      detail: 'CredentialsProviderError',
    });
    expect(fake.received.length).toBe(before);
  });

  it('ends when the signal does', async () => {
    const silent = await startFakeVendor(() => ({ status: 'hang' }));
    const provider = createBedrock({
      name: 'bedrock',
      region,
      endpoint: silent.url,
      credentials: fakeBedrockIdentity,
    });
    await expect(provider.submit(aJob(), AbortSignal.timeout(100))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await silent.stop();
    expect(await provider.submit(aJob(), never)).toEqual(notReached);
  });

  it('has no free form: the check says so', async () => {
    expect(await checkBedrock()).toMatchObject({ verdict: 'unchecked' });
  });
});

describe('the fake of Bedrock', () => {
  const good = { prompt: 'A cat' };
  const model = '/model/stability.stable-image-core-v1%3A1/invoke';
  const invoke = async (
    path: string,
    body: object | string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ): Promise<unknown[]> => {
    const client = new AwsClient({ ...fakeBedrockIdentity, service: 'bedrock', region, retries: 0 });
    const response = await client.fetch(`${fake.url}${path}`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    await response.arrayBuffer();
    return [response.status, response.headers.get('x-amzn-errortype')?.split(':')[0]];
  };

  it('takes the signature of another signer, too', async () => {
    expect(await invoke(model, good)).toEqual([200, undefined]);
  });

  it('refuses a body that was changed after it was signed, and a call that was not signed', async () => {
    const client = new AwsClient({ ...fakeBedrockIdentity, service: 'bedrock', region });
    const signed = await client.sign(`${fake.url}${model}`, { method: 'POST', body: JSON.stringify(good) });
    const changed = await fetch(signed.url, {
      method: 'POST',
      headers: signed.headers,
      body: JSON.stringify({ prompt: 'A dog' }),
    });
    expect(changed.headers.get('x-amzn-errortype')).toMatch(/^InvalidSignatureException/);
    const unsigned = await fetch(`${fake.url}${model}`, { method: 'POST', body: JSON.stringify(good) });
    expect(unsigned.headers.get('x-amzn-errortype')).toMatch(/^MissingAuthenticationTokenException/);
  });

  it.each<[string, string, object | string, unknown[], Record<string, string>?]>([
    ['another path', '/model/x/converse', good, [404, 'UnknownOperationException']],
    ['another model', '/model/amazon.nova-canvas-v1%3A0/invoke', good, [400, 'ValidationException']],
    ['another content type', model, good, [400, 'ValidationException'], { 'content-type': 'text/plain' }],
    ['an unknown field', model, { ...good, width: 1024 }, [400, 'ValidationException']],
    ['a missing prompt', model, {}, [400, 'ValidationException']],
    ['a prompt that is too long', model, { prompt: 'x'.repeat(10_001) }, [400, 'ValidationException']],
    ['a ratio it does not have', model, { ...good, aspect_ratio: '4:3' }, [400, 'ValidationException']],
    ['WebP', model, { ...good, output_format: 'webp' }, [400, 'ValidationException']],
    ['a seed out of range', model, { ...good, seed: -1 }, [400, 'ValidationException']],
    ['another mode', model, { ...good, mode: 'image-to-image' }, [400, 'ValidationException']],
  ])('refuses %s', async (_, path, body, expected, headers) => {
    expect(await invoke(path, body, headers)).toEqual(expected);
  });
});
