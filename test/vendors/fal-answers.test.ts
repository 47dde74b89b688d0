/** Fields and statuses of fal's answers for which the vendor's fake has no row. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Reply } from '../../lab/vendors/fakes/fake-vendor.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of fal', () => {
  const ok = (body: object): Reply => ({ status: 200, body });
  const addresses = {
    status_url: `${vendor.url}/s`,
    response_url: `${vendor.url}/r`,
    cancel_url: `${vendor.url}/c`,
  };
  const jobId = `0 ${vendor.url}/s ${vendor.url}/r ${vendor.url}/c`;
  const polled = (status: Reply, result: Reply = ok({})): Promise<ProviderAnswer> | undefined => {
    vendor.answerWith((path) => (path === '/s' ? status : result));
    return createFal(vendor.settings).poll?.(jobId, aJob(), never);
  };
  const lookedAtOnce = async (result: Reply): Promise<readonly string[]> => {
    const paths: string[] = [];
    vendor.answerWith((path) => {
      paths.push(path);
      return path === '/r' ? result : path === '/s' ? completed : { status: 200, body: 'picture' };
    });
    await createFal(vendor.settings).poll?.(jobId, { ...aJob(), saidEnded: true }, never);
    return paths;
  };
  const completed = ok({ status: 'COMPLETED' });

  it('A job that fal has called ended is asked for its result at once, and its status is not read', async () => {
    const url = `${vendor.url}/picture`;
    expect(await lookedAtOnce({ status: 200, body: { images: [{ url }] } })).toEqual(['/r', '/picture']);
  });

  it.each([
    [200, { status: 'IN_PROGRESS' }],
    [400, { detail: 'Request is still in progress' }],
    [404, {}],
    [422, { detail: [{ type: 'content_policy_violation' }] }],
    [500, {}],
  ])('A result with status %i and %o is read only after the status', async (status, body) => {
    expect(await lookedAtOnce({ status, body })).toEqual(['/r', '/s', '/r']);
  });

  const foreign = 'an address of another host';
  it.each(
    ['status_url', 'response_url', 'cancel_url'].flatMap((name) => [
      [name, undefined, 'HTTP 200'] as const,
      [name, 'https://example.com/', foreign] as const,
    ]),
  )('An accepted request of fal whose %s is %s is refused', async (name, address, detail) => {
    vendor.answerWith({ status: 200, body: { ...addresses, [name]: address } });
    expect(await createFal(vendor.settings).submit(aJob(), never)).toEqual(refused('unknown_answer', detail));
  });

  it('A request that fal accepts with another status than 200 is refused', async () => {
    vendor.answerWith({ status: 201, body: addresses });
    expect(await createFal(vendor.settings).submit(aJob(), never)).toEqual(
      refused('unknown_answer', 'HTTP 201'),
    );
  });

  it.each(['/s', '/r'])(
    'fal is not polled when the address %s of the job is on another host',
    async (path) => {
      const before = vendor.received.length;
      const elsewhere = jobId.replace(`${vendor.url}${path}`, 'https://example.com/s');
      expect(await createFal(vendor.settings).poll?.(elsewhere, aJob(), never)).toEqual(
        refused('unknown_answer', foreign),
      );
      expect(vendor.received).toHaveLength(before);
    },
  );

  const failed = (type: unknown, more: object = {}): Reply => ({
    status: 422,
    body: { detail: [{ type, ...more }] },
  });
  const ofSources = { loc: ['body', 'image_urls', 0] };
  const policy = 'content_policy_violation';
  const flagged = ok({ images: [{ url: 'x' }], has_nsfw_concepts: [false, true] });
  const inherited: Reply = { status: 422, body: { error_type: 'constructor' } };
  it.each<[string, Reply, string, string]>([
    ['a list without a picture', ok({ images: [] }), 'nothing_rendered', 'HTTP 200'],
    ['a picture without an address', ok({ images: [{ url: 7 }] }), 'nothing_rendered', 'HTTP 200'],
    ['no list', ok({}), 'unknown_answer', 'HTTP 200'],
    ['a list with another status', { status: 201, body: { images: [{}] } }, 'unknown_answer', 'HTTP 201'],
    ['a flagged picture', flagged, 'prompt', 'HTTP 200 has_nsfw_concepts'],
    ['our key refused', { status: 403, body: {} }, 'credentials', 'HTTP 403'],
    ['a code of the model', failed('new_code'), 'failed', 'HTTP 422 new_code'],
    ['a code that is no text', failed(7), 'unknown_answer', 'HTTP 422'],
    ['a policy that the prompt broke', failed(policy), 'prompt', `HTTP 422 ${policy}`],
    ['a policy that the sources broke', failed(policy, ofSources), 'source_image', `HTTP 422 ${policy}`],
    ['a failure in the field of the source images', failed('other', ofSources), 'failed', 'HTTP 422 other'],
    ['a code such as constructor', inherited, 'failed', 'HTTP 422 constructor'],
  ])('A result of fal with %s is refused', async (_what, result, reason, detail) => {
    expect(await polled(completed, result)).toEqual(refused(reason, detail));
  });

  it.each([400, 404, 408, 409, 413, 422])(
    'A request of fal has failed when it is completed and its result has the status %i with a code',
    async (status) => {
      expect(await polled(completed, { status, body: { detail: [{ type: 'other' }] } })).toEqual(
        refused('failed', `HTTP ${status} other`),
      );
    },
  );

  it.each<[Reply, string, string]>([
    [{ status: 200, body: { status: 'RESTING' } }, 'unknown_answer', 'HTTP 200 RESTING'],
    [{ status: 404, body: {} }, 'unknown_answer', 'HTTP 404'],
    [{ status: 401, body: {} }, 'credentials', 'HTTP 401'],
  ])('The status %j of fal is refused as %s', async (status, reason, detail) => {
    expect(await polled(status)).toEqual(refused(reason, detail));
  });

  it.each<[string, object]>([
    ['fal-ai/flux-2-pro', { safety_tolerance: '2' }],
    ['fal-ai/flux-2-max', { safety_tolerance: '2' }],
    ['fal-ai/flux-2/klein/4b', { num_images: 1 }],
    ['fal-ai/another', {}],
  ])('fal gets the fields of the model %s', async (providerModel, own) => {
    vendor.answerWith({ status: 429 });
    await createFal(vendor.settings).submit(aJob({ providerModel, prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toEqual({
      prompt: '',
      image_size: { width: 1024, height: 1024 },
      output_format: 'jpeg',
      enable_safety_checker: true,
      ...own,
    });
  });
});
