import { describe, expect, it } from 'vitest';
import type { CreationRecord, StoredImage } from '../../core/creation.ts';
import type { Completion, CreationStore, LeaseOutcome } from '../../core/ports/creations.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import { renderImage } from '../../functions/workflow/render-image.ts';
import type { RenderServices } from '../../functions/services/render.ts';
import { aCreation, creationId, now, seededBytes } from '../fixtures/records.ts';
import { fakeClock, fakeLog, fakeProvider, pngBytes, rejection, stub, type FakeLog } from './fakes.ts';

const payload = { creation_id: creationId };

interface Stage {
  readonly services: RenderServices;
  readonly steps: string[];
  readonly completions: Completion[];
  readonly log: FakeLog;
}

interface Setting {
  readonly lease?: LeaseOutcome;
  readonly creation?: Partial<CreationRecord>;
  readonly commit?: Awaited<ReturnType<CreationStore['complete']>>;
  readonly stored?: StoredImage;
  readonly put?: () => void;
  /** Whether the lease is still the invocation's when it writes down an attempt. */
  readonly isHeld?: boolean;
}

function stage({
  creation = {},
  lease = { kind: 'leased', creation: aCreation(creation) },
  commit = 'completed',
  stored,
  put,
  isHeld = true,
}: Setting = {}): Stage {
  const steps: string[] = [];
  const completions: Completion[] = [];
  const log = fakeLog();
  const creations = stub<CreationStore>({
    lease: async (_id, holder, until, at) => {
      steps.push(`lease ${holder} ${until - at}`);
      return Promise.resolve(lease);
    },
    renewLease: async (_id, holder, until) => {
      steps.push(`renew ${holder} ${until - now}`);
      return Promise.resolve(true);
    },
    saveAttempts: async () => {
      steps.push('save');
      return Promise.resolve(isHeld);
    },
    complete: async (_creation, done) => {
      steps.push('complete');
      completions.push(done);
      return Promise.resolve(commit);
    },
  });
  const images = stub<ImageStore>({
    find: async () => Promise.resolve(stored),
    put: async () => {
      steps.push('put');
      put?.();
      return Promise.resolve();
    },
  });
  const sandbox = fakeProvider('sandbox', { kind: 'rendered', bytes: pngBytes });
  const services = stub<RenderServices>({
    clock: fakeClock(),
    log,
    randomBytes: seededBytes,
    creations,
    images,
    providers: new Map([['sandbox', sandbox]]),
    resultDays: 30,
  });
  return { services, steps, completions, log };
}

describe('RenderImage', () => {
  it('leases, writes the attempt, stores the image and completes the creation, in this order', async () => {
    const { services, steps, completions } = stage();
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(steps).toEqual(['lease request-1 6000', 'save', 'put', 'complete']);
    expect(completions[0]).toMatchObject({
      results: [{ width: 64, height: 64, contentType: 'image/png' }],
      resultsExpireAt: now + 30 * 86_400_000,
      attempts: [{ provider: 'sandbox', outcome: 'rendered' }],
    });
  });

  it.each(['terminal', 'absent'] as const)('has nothing to do when the creation is %s', async (kind) => {
    const { services, steps } = stage({ lease: { kind } });
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(steps).toEqual(['lease request-1 6000']);
  });

  it('comes again later while another invocation has the lease', async () => {
    const { services } = stage({ lease: { kind: 'leased_by_another' } });
    expect(await rejection(renderImage(payload, 'request-2', services))).toMatchObject({
      name: 'StillRunning',
    });
  });

  it('calls no provider once its lease is lost: the attempt would be written nowhere', async () => {
    const { services, steps } = stage({ isHeld: false });
    expect(await rejection(renderImage(payload, 'request-1', services))).toMatchObject({
      name: 'StillRunning',
    });
    expect(steps).toEqual(['lease request-1 6000', 'save']);
  });

  it('never fails a good image for a busy table: it gives the lease back and comes again', async () => {
    const { services, steps } = stage({ commit: 'busy' });
    expect(await rejection(renderImage(payload, 'request-1', services))).toMatchObject({
      name: 'CommitBusy',
    });
    expect(steps.slice(-2)).toEqual(['complete', 'renew request-1 0']);
  });

  it('commits an image that an invocation before it had stored, without storing it again', async () => {
    const attempt = {
      provider: 'sandbox',
      providerModel: 'standard',
      startedAt: '',
      resultKey: 'results/x.png',
    };
    const stored = { key: 'results/x.png', width: 8, height: 8, contentType: 'image/png', bytes: 88 };
    const { services, steps, completions } = stage({ creation: { attempts: [attempt] }, stored });
    await renderImage(payload, 'request-2', services);
    expect(steps).toEqual(['lease request-2 6000', 'complete']);
    expect(completions[0]?.results).toEqual([stored]);
  });

  it('discards a late image when the creation was refunded meanwhile', async () => {
    const { services, log } = stage({ commit: 'already_terminal' });
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(log.lines).not.toContain('info creation_completed');
  });

  it('fails as ours, with an alarm, when the image cannot be stored', async () => {
    const put = (): never => {
      throw new TypeError('bucket details');
    };
    const { services, steps, log } = stage({ put });
    expect(await rejection(renderImage(payload, 'request-1', services))).toEqual({
      name: 'InternalFailure',
      message: 'Generation failed.',
    });
    expect(steps).not.toContain('complete');
    expect(log.lines).toContain('alarm image_not_stored');
    expect(log.text()).not.toContain('bucket details');
  });

  it('does not begin at a provider when its time is over', async () => {
    const { services, steps } = stage({ creation: { deadlineAt: now } });
    expect(await rejection(renderImage(payload, 'request-1', services))).toMatchObject({
      name: 'GenerationTimedOut',
    });
    expect(steps).not.toContain('put');
  });

  it('refuses a payload that names no creation', async () => {
    expect(await rejection(renderImage({ creation_id: 'x' }, 'request-1', stage().services))).toMatchObject({
      message: 'the payload has no creation_id',
    });
  });
});
