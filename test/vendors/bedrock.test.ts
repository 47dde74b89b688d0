import { AwsClient } from 'aws4fetch';
import { afterAll, describe, expect, it } from 'vitest';
import { bedrockRows } from '../../lab/vendors/fakes/bedrock/rows.ts';
import { fakeBedrockIdentity, startFakeBedrock } from '../../lab/vendors/fakes/bedrock/server.ts';
import { startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { AspectRatio } from '../../service/contract/request-fields.ts';
import { checkBedrock } from '../../service/vendors/bedrock-check.ts';
import { createBedrock } from '../../service/vendors/bedrock.ts';
import type { ImageProvider, ProviderAnswer, RenderJob } from '../../service/vendors/provider.ts';
import { refused } from './answering-vendor.ts';
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

const bedrockAt = (endpoint: string, credentials = fakeBedrockIdentity): ImageProvider =>
  createBedrock({ name: 'bedrock', region, endpoint, credentials });
const submit = (job: RenderJob, credentials = fakeBedrockIdentity): Promise<ProviderAnswer> =>
  bedrockAt(fake.url, credentials).submit(job, never);

describe('An answer of Bedrock', () => {
  it.each(bedrockRows)('The answer "$row" has its outcome: $says', async ({ row, answers }) => {
    const before = fake.received.length;
    const answer = await submit(aJob({ prompt: `${prompt} [row:${row}]` }));
    expect(outcomeOf(answer)).toBe(answers);
    if (answer.kind === 'refused') expect(answer.detail).toMatch(/^(HTTP \d{3}( [\w: ]+)?|[A-Z_]+)$/);
    // Bedrock is asked only once. A second call would be rendered and paid again.
    expect(fake.received.length).toBe(before + 1);
  });

  it.each(['png', 'jpeg'] as const)('The picture has the requested ratio as %s', async (outputFormat) => {
    const answer = await submit(aJob({ outputFormat, aspectRatio: '16:9' }));
    expect(headerOf(answer)).toEqual({ contentType: `image/${outputFormat}`, width: 1344, height: 768 });
  });

  it('A role without rights is refused for its credentials, which only a person can correct', async () => {
    expect(await submit(aJob({ prompt: 'A cat [row:access-denied]' }))).toEqual(
      refused('credentials', 'HTTP 403 AccessDeniedException'),
    );
  });
});

describe('A request to Bedrock', () => {
  it('A request is an InvokeModel of the model, signed with the role and its session', async () => {
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

  it('A job without a seed makes a request without a seed', async () => {
    await submit(aJob());
    expect(lastReceived(fake).json).toEqual({
      prompt,
      mode: 'text-to-image',
      aspect_ratio: '1:1',
      output_format: 'png',
    });
  });

  it.each<AspectRatio>(['1:1', '3:2', '2:3', '5:4', '4:5', '16:9', '9:16', '21:9'])(
    'Bedrock accepts the request for the ratio %s',
    async (aspectRatio) => {
      // The fake checks every field before it answers that it is throttled.
      expect(await submit(aJob({ prompt: 'A cat [row:throttled]', aspectRatio }))).toMatchObject({
        reason: 'unavailable',
      });
    },
  );

  it('A job with source images is refused and not sent', async () => {
    const before = fake.received.length;
    expect(await submit(aJob({ sourceCount: 1 }))).toMatchObject({ reason: 'unknown_answer' });
    expect(fake.received.length).toBe(before);
  });
});

describe('A call of Bedrock', () => {
  it.each([
    ['another key id', { ...fakeBedrockIdentity, accessKeyId: 'OTHER' }, 'UnrecognizedClientException'],
    ['another secret', { ...fakeBedrockIdentity, secretAccessKey: 'other' }, 'InvalidSignatureException'],
    ['another session', { ...fakeBedrockIdentity, sessionToken: 'other' }, 'UnrecognizedClientException'],
  ])('A call that is signed with %s is refused for its credentials', async (_, identity, code) => {
    expect(await submit(aJob(), identity)).toEqual(refused('credentials', `HTTP 403 ${code}`));
  });

  it('A call without credentials is refused for them and not made', async () => {
    const before = fake.received.length;
    const none = (): never => {
      throw Object.assign(new Error('Could not load credentials from any providers'), {
        name: 'CredentialsProviderError',
      });
    };
    const identity = none as unknown as typeof fakeBedrockIdentity;
    expect(await submit(aJob(), identity)).toEqual(refused('credentials', 'CredentialsProviderError'));
    expect(fake.received.length).toBe(before);
  });

  it('A call ends when its signal aborts, and a vendor that is not reached is unavailable', async () => {
    const silent = await startFakeVendor(() => ({ status: 'hang' }));
    const provider = bedrockAt(silent.url);
    await expect(provider.submit(aJob(), AbortSignal.timeout(100))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await silent.stop();
    expect(await provider.submit(aJob(), never)).toEqual(notReached);
  });

  it('The check says that Bedrock has no call that costs nothing', async () => {
    expect(await checkBedrock()).toMatchObject({ verdict: 'unchecked' });
  });
});

describe('The fake of Bedrock', () => {
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

  it('The fake accepts the signature of another signer', async () => {
    expect(await invoke(model, good)).toEqual([200, undefined]);
  });

  it('The fake refuses a body that was changed after the signature, and a call without a signature', async () => {
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
  ])('The fake refuses %s', async (_, path, body, expected, headers) => {
    expect(await invoke(path, body, headers)).toEqual(expected);
  });
});
