import { describe, expect, it } from 'vitest';
import { NewerCatalog } from '../../service/catalog/operator-catalog.ts';
import type { Completion, LeaseOutcome } from '../../service/creations/creation-reads.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord, StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { RenderServices } from '../../service/render/open.ts';
import { renderImage } from '../../service/render/render-image.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { fakeLog, type FakeLog, fakeProvider, pngBytes, rejection, stub, failureOf } from '../api/fakes.ts';
import { aCreation, creationId, now } from '../fixtures/records.ts';
import { renderServices } from './walk-fixture.ts';

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
  /** Whether the invocation still has the lease when it saves an attempt. */
  readonly isHeld?: boolean;
  /** What the record says after a save was refused. */
  readonly latest?: Partial<CreationRecord>;
}

function stage({
  creation = {},
  lease = { kind: 'leased', creation: aCreation(creation), turn: 7 },
  commit = 'completed',
  stored,
  put,
  isHeld = true,
  latest = {},
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
    saveAttempts: async (_id, turn) => {
      steps.push(`save ${turn}`);
      return Promise.resolve(isHeld);
    },
    read: async () => Promise.resolve(aCreation(latest)),
    noteThumbnails: async () => Promise.resolve(true),
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
  const services = renderServices({
    log,
    creations,
    images,
    providers: new Map([['sandbox', sandbox]]),
  });
  return { services, steps, completions, log };
}

describe('RenderImage', () => {
  it('RenderImage leases, saves the attempt, stores the image and completes the creation, in this order', async () => {
    const { services, steps, completions } = stage();
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(steps).toEqual(['lease request-1 6000', 'save 7', 'put', 'complete']);
    expect(completions[0]).toMatchObject({
      results: [{ width: 64, height: 64, contentType: 'image/png' }],
      resultsExpireAt: now + 30 * 86_400_000,
      attempts: [{ provider: 'sandbox', outcome: 'rendered' }],
    });
  });

  it.each(['terminal', 'absent'] as const)('RenderImage leaves a creation that is %s alone', async (kind) => {
    const { services, steps } = stage({ lease: { kind } });
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(steps).toEqual(['lease request-1 6000']);
  });

  it('RenderImage is tried again later while another invocation has the lease', async () => {
    const { services } = stage({ lease: { kind: 'leased_by_another' } });
    expect(await failureOf(renderImage(payload, 'request-2', services))).toBe('StillRunning');
  });

  it('RenderImage calls no provider after it has lost its lease, because the attempt could not be saved', async () => {
    const { services, steps } = stage({ isHeld: false });
    expect(await failureOf(renderImage(payload, 'request-1', services))).toBe('StillRunning');
    expect(steps).toEqual(['lease request-1 6000', 'save 7']);
  });

  it('RenderImage calls no provider and goes on to the webhook when the creation was cancelled meanwhile', async () => {
    const { services, steps } = stage({ isHeld: false, latest: { status: 'failed' } });
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(steps).toEqual(['lease request-1 6000', 'save 7']);
  });

  it('RenderImage completes with an image that an earlier invocation stored, and does not store it again', async () => {
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

  it('RenderImage discards a late image when the creation was refunded meanwhile', async () => {
    const { services, log } = stage({ commit: 'already_terminal' });
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(log.lines).not.toContain('info creation_completed');
  });

  it('RenderImage fails as InternalFailure, with an alarm, when the image cannot be stored', async () => {
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

  it('RenderImage refuses a payload that names no creation', async () => {
    expect(await rejection(renderImage({ creation_id: 'x' }, 'request-1', stage().services))).toMatchObject({
      message: 'the payload has no creation_id',
    });
  });
});

describe('RenderImage with a provider of the operator', () => {
  const configured = { routes: [{ provider: 'gpu', providerModel: 'own' }], catalogRevision: '1-a' };

  it.each([
    [new Overloaded('busy'), 'CommitBusy'],
    [new NewerCatalog('of tomorrow'), 'NewerRelease'],
  ])('%s while the provider is looked up leaves no attempt to the next try', async (error, name) => {
    const { services, steps } = stage({ creation: configured });
    const broken = {
      providers: { get: async () => Promise.reject(error) },
      operatorCosts: async () => Promise.reject(error),
    };
    const failed = rejection(renderImage(payload, 'request-1', { ...services, ...broken }));
    expect(await failed).toMatchObject({ name });
    expect(steps).toEqual(['lease request-1 6000', 'renew request-1 0']);
  });

  it('An attempt costs what the operator knows, also at a provider of ours', async () => {
    const { services, completions } = stage({ creation: { catalogRevision: '1-a' } });
    const image = { resolution: '1K', usd: 0.5, usd_per_input_image: 0 } as const;
    const creation = aCreation();
    const [route] = creation.routes;
    const cost = {
      provider: 'sandbox',
      provider_model: route?.providerModel ?? '',
      quality: null,
      images: [image, { ...image, resolution: '2K' as const }],
      source: null,
      checked_at: '2026-11-23',
    };
    const operatorCosts: RenderServices['operatorCosts'] = async () => Promise.resolve([cost]);
    await renderImage(payload, 'request-1', { ...services, operatorCosts });
    expect(completions[0]?.attempts).toMatchObject([{ provider: 'sandbox', providerCostMicros: 500_000 }]);
  });

  it('A picture is rendered without its cost while the operator’s costs cannot be read', async () => {
    const { services, completions, log } = stage({ creation: { catalogRevision: '1-a' } });
    const operatorCosts: RenderServices['operatorCosts'] = async () => Promise.reject(new Overloaded('busy'));
    await renderImage(payload, 'request-1', { ...services, operatorCosts });
    expect(completions[0]?.attempts[0]?.outcome).toBe('rendered');
    expect(log.lines).toContain('info operator_costs_not_read');
  });
});
