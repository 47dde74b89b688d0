/** The fakes of fal and Replicate call back over real sockets. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallingVendor } from '../../lab/vendors/fakes/calls-back.ts';
import { startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { startFakeFal } from '../../lab/vendors/fakes/fal/server.ts';
import { startFakeReplicate } from '../../lab/vendors/fakes/replicate/server.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import type {
  ImageProvider,
  ProviderAnswer,
  RenderJob,
  VendorSettings,
} from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { never } from './answering-vendor.ts';
import { closedUrl, jobsLike } from './vendor-talk.ts';

let status = 200;
const service = await startFakeVendor(() => ({ status }));
const fal = await startFakeFal();
const replicate = await startFakeReplicate();
afterAll(() => Promise.all([service.stop(), fal.stop(), replicate.stop()]));
beforeEach(() => void (status = 200));

interface Vendor {
  readonly name: string;
  readonly fake: CallingVendor;
  readonly create: (settings: VendorSettings) => ImageProvider;
  readonly key: string;
  readonly providerModel: string;
  readonly idField: string;
}

const vendors: readonly Vendor[] = [
  {
    name: 'fal',
    fake: fal,
    create: createFal,
    key: 'fake-fal-key',
    providerModel: 'fal-ai/flux-2-pro',
    idField: 'request_id',
  },
  {
    name: 'replicate',
    fake: replicate,
    create: createReplicate,
    key: 'fake-replicate-key',
    providerModel: 'black-forest-labs/flux-2-pro',
    idField: 'id',
  },
];

describe.each(vendors)('The fake of $name', (vendor) => {
  const { name, fake, create, key, providerModel, idField } = vendor;
  const provider = create({
    name,
    credentials: { read: async () => Promise.resolve(key), forget: () => undefined },
    clock: systemClock,
    baseUrl: fake.url,
  });
  const submitted = async (
    change: Partial<RenderJob> = {},
  ): Promise<{ jobId: string; poll: () => Promise<ProviderAnswer | undefined> }> => {
    const job = jobsLike({ providerModel, callbackUrl: `${service.url}/callback`, ...change })();
    const answer = await provider.submit(job, never);
    if (answer.kind !== 'pending') throw new Error('the job was not accepted');
    const { jobId } = answer;
    return { jobId: fake.jobIds().at(-1) ?? '', poll: async () => provider.poll?.(jobId, job, never) };
  };

  it('A callback goes to the address of the submission, names its job, and reports the status it got', async () => {
    const { jobId } = await submitted();
    status = 202;
    expect(await fake.callBack(jobId)).toBe(202);
    expect(service.received.at(-1)).toMatchObject({
      method: 'POST',
      path: '/callback',
      json: { [idField]: jobId },
    });
    expect(await fake.callBack(jobId, { to: `${service.url}/elsewhere`, aboutJob: 'other' })).toBe(202);
    expect(service.received.at(-1)).toMatchObject({ path: '/elsewhere', json: { [idField]: 'other' } });
    expect(await fake.callBack(jobId, { to: await closedUrl() })).toBe(0);
  });

  it('A job that failed calls back, too, and the next poll says why', async () => {
    const row = name === 'fal' ? 'prompt-policy' : 'sensitive';
    const { jobId, poll } = await submitted({ prompt: `[row:${row}]` });
    expect(await fake.callBack(jobId)).toBe(200);
    const said = name === 'fal' ? 'ERROR' : 'failed';
    expect(service.received.at(-1)?.json).toMatchObject({ [idField]: jobId, status: said });
    expect(await poll()).toMatchObject({ kind: 'refused', reason: 'prompt' });
  });
});
