/** The sandbox: what a prompt can ask of it, and what it answers. */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { accountFromItem } from '../../service/accounts/account-items.ts';
import type { Account } from '../../service/accounts/account.ts';
import { enabledRoutes, isVisible } from '../../service/catalog/catalog.ts';
import { asOffered, directiveProblems } from '../../service/catalog/sandbox.ts';
import type { SandboxSetting } from '../../service/contract/sandbox.ts';
import { readImageHeader } from '../../service/values/image-bytes.ts';
import type { ProviderAnswer, RenderJob } from '../../service/vendors/provider.ts';
import type { PictureJob } from '../../service/vendors/sandbox/picture/picture.ts';
import {
  createSandboxProvider,
  type Protect,
  directivesOf,
  keepRecentPictures,
  pixelsOf,
} from '../../service/vendors/sandbox/provider.ts';
import { pngRows } from '../../service/render/thumbnails/png.ts';
import { shrink } from '../../service/render/thumbnails/shrink.ts';
import { fakeClock, pngOf } from '../api/fakes.ts';
import { anAccount, now } from '../fixtures/records.ts';
import stored from '../fixtures/releases/9c400ea/table.json' with { type: 'json' };
import { without } from '../fixtures/values.ts';
import { jobsLike } from '../vendors/vendor-talk.ts';
import { everything, model } from './catalog-fixture.ts';

describe('A directive of a prompt', () => {
  it.each([
    [null, { delayMillis: 0 }],
    ['a lake', { delayMillis: 0 }],
    ['[sandbox:delay=3s]', { delayMillis: 3_000 }],
    ['[sandbox:delay=3]', { delayMillis: 3_000 }],
    ['[sandbox:delay=250ms]', { delayMillis: 250 }],
    ['[sandbox:delay=2m]', { delayMillis: 120_000 }],
    ['[sandbox:delay=1.5s]', { delayMillis: 1_500 }],
    ['[sandbox:delay= 2s ]', { delayMillis: 2_000 }],
    ['[sandbox:delay]', { delayMillis: 0 }],
    ['[sandbox:delay=soon]', { delayMillis: 0 }],
    ['[sandbox:delay=x3s]', { delayMillis: 0 }],
    ['[sandbox:delay=3sx]', { delayMillis: 0 }],
    ['[sandbox:async=4s]', { delayMillis: 0, asyncMillis: 4_000 }],
    ['[sandbox:async]', { delayMillis: 0, asyncMillis: 0 }],
    ['[sandbox:reject-prompt]', { delayMillis: 0, outcome: 'reject-prompt' }],
    ['[sandbox:reject-image]', { delayMillis: 0, outcome: 'reject-image' }],
    ['[sandbox:fail]', { delayMillis: 0, outcome: 'fail' }],
    ['[sandbox:empty]', { delayMillis: 0, outcome: 'empty' }],
    ['[sandbox:hang]', { delayMillis: 0, outcome: 'hang' }],
    ['[sandbox:down]', { delayMillis: 0, outcome: 'down' }],
    ['[sandbox:crash]', { delayMillis: 0, outcome: 'crash' }],
    ['[sandbox:unknown]', { delayMillis: 0 }],
    ['[sandbox:down=sandbox]', { delayMillis: 0, outcome: 'down' }],
    ['[sandbox:down=sandbox-large]', { delayMillis: 0 }],
    [
      'a lake [sandbox:delay=1s] at [sandbox:async=2s] night [sandbox:fail][sandbox:empty]',
      { delayMillis: 1_000, asyncMillis: 2_000, outcome: 'empty' },
    ],
  ])('The prompt %j means %j to the provider "sandbox"', (prompt, directives) => {
    expect(directivesOf(prompt, 'sandbox')).toEqual(directives);
  });
});

describe('The pixels of a sandbox picture', () => {
  it.each([
    ['1K', '1:1', 1024, 1024],
    ['1K', '3:2', 1248, 832],
    ['1K', '2:3', 832, 1248],
    ['1K', '16:9', 1360, 768],
    ['1K', '21:9', 1568, 672],
    ['2K', '1:1', 2048, 2048],
    ['2K', '4:3', 2368, 1776],
    ['4K', '1:1', 4096, 4096],
    ['4K', '9:16', 3072, 5456],
  ] as const)('A picture at %s and %s has %i x %i pixels', (resolution, ratio, width, height) => {
    expect(pixelsOf(resolution, ratio)).toEqual({ width, height });
  });
});

describe('The sandbox', () => {
  /** Protects the upper half, where the source image is white. */
  const protect: Protect = async (images, { width, height }) => {
    if (images.source.length === 0) throw new Error('no picture');
    return Promise.resolve(new Uint8Array(width * height * 4).fill(255).fill(0, width * (height / 2) * 4));
  };
  const never = new AbortController().signal;
  const aJob = jobsLike({ providerModel: 'standard' });
  const stage = () => {
    const clock = fakeClock();
    const crash = (): never => {
      throw new Error('crashed');
    };
    const sandbox = createSandboxProvider({ name: 'sandbox', clock, crash, protect });
    const submit = (prompt: string | null, change: Partial<RenderJob> = {}): Promise<ProviderAnswer> =>
      sandbox.submit(aJob({ prompt, ...change }), never);
    return { clock, sandbox, submit };
  };

  it.each([
    ['reject-prompt', 'prompt'],
    ['reject-image', 'source_image'],
    ['fail', 'failed'],
    ['empty', 'nothing_rendered'],
    ['down', 'unavailable'],
  ])('The sandbox refuses a prompt with [sandbox:%s] as %s', async (directive, reason) => {
    expect(await stage().submit(`[sandbox:${directive}]`)).toEqual({ kind: 'refused', reason });
  });

  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['webp', 'image/png'],
  ] as const)('The sandbox paints a picture for the format %s as %s', async (outputFormat, contentType) => {
    const answer = await stage().submit('a lake', { outputFormat, aspectRatio: '3:2' });
    expect(answer.kind === 'rendered' && readImageHeader(answer.bytes)).toEqual({
      contentType,
      width: 1248,
      height: 832,
    });
  });

  describe('with a mask', () => {
    const mask = { contentType: 'image/png', width: 96, height: 64, bytes: pngOf(96, 64) };
    const masked = { sourceCount: 1, seed: 5, readMask: async () => Promise.resolve(mask) };
    /** The colours in the middle of the upper and of the lower half. */
    const halvesOf = async (prompt: string, change: Partial<RenderJob> = {}): Promise<unknown> => {
      const answer = await stage().submit(prompt, { ...masked, ...change });
      if (answer.kind !== 'rendered') return answer;
      const { data, width, height } = await shrink(pngRows(answer.bytes, { width: 1024, height: 1024 }), {
        width: 4,
        height: 2,
      });
      expect([width, height]).toEqual([4, 2]);
      return [data.slice(0, 16).every((byte) => byte === 255), data.slice(16).every((byte) => byte === 255)];
    };

    it('The sandbox paints around what is protected, and over it when the prompt says so', async () => {
      expect(await halvesOf('a lake')).toEqual([true, false]);
      expect(await halvesOf('a lake', { background: 'transparent' })).toEqual([true, false]);
      expect(await halvesOf('a lake [sandbox:ignore]')).toEqual([false, false]);
      expect(await halvesOf('a lake [sandbox:ignore=other]')).toEqual([true, false]);
    });

    it('The sandbox refuses a source image that it cannot read', async () => {
      const readSources = async () => Promise.resolve([{ ...mask, bytes: Buffer.alloc(0) }]);
      expect(await halvesOf('a lake', { readSources })).toMatchObject({
        kind: 'refused',
        reason: 'source_image',
      });
    });
  });

  it('The sandbox treats no prompt as an empty prompt, and no seed as the number of the picture', async () => {
    const { submit } = stage();
    const pictureOf = async (prompt: string | null, change: Partial<RenderJob>): Promise<string> => {
      const answer = await submit(prompt, change);
      return answer.kind === 'rendered' ? Buffer.from(answer.bytes).toString('base64') : answer.kind;
    };
    const [first, second] = [await pictureOf('', { seed: 0 }), await pictureOf('', { seed: 1 })];
    expect(first === second).toBe(false);
    expect((await pictureOf(null, { seed: null })) === first).toBe(true);
    expect((await pictureOf(null, { seed: null, index: 1 })) === second).toBe(true);
    expect((await pictureOf('', { seed: 0, index: 1 })) === first).toBe(true);
  });

  it('The sandbox sleeps before its answer only if the prompt says so', async () => {
    const { submit, clock } = stage();
    await submit('[sandbox:delay=3s][sandbox:fail]');
    await submit('[sandbox:fail]');
    expect(clock.sleeps).toEqual([3_000]);
  });

  it('The sandbox stops sleeping when its signal aborts', async () => {
    const { sandbox } = stage();
    const job = aJob({ prompt: '[sandbox:delay=3s][sandbox:fail]' });
    await expect(sandbox.submit(job, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });

  it('The sandbox accepts an asynchronous job, and the job ends at its time', async () => {
    const { sandbox, submit, clock } = stage();
    const job = aJob({ prompt: '[sandbox:async=4s][sandbox:fail]' });
    const jobId = `sandbox-${now + 4_000}`;
    const pending = { kind: 'pending', jobId, pollAfterMillis: 500 };
    expect(await submit(job.prompt)).toEqual(pending);
    clock.set(now + 3_999);
    expect(await sandbox.poll?.(jobId, job, never)).toEqual(pending);
    clock.set(now + 4_000);
    expect(await sandbox.poll?.(jobId, job, never)).toEqual({ kind: 'refused', reason: 'failed' });
  });

  it('The sandbox refuses a job id of another form', async () => {
    const { sandbox } = stage();
    expect(await sandbox.poll?.('another', aJob(), never)).toEqual({
      kind: 'refused',
      reason: 'unknown_answer',
    });
  });

  it('The sandbox crashes when the prompt says so', async () => {
    await expect(stage().submit('[sandbox:crash]')).rejects.toThrow('crashed');
    const { sandbox } = stage();
    const prompts = ['a lake [sandbox:delay=3s]', '[sandbox:crash]', '[sandbox:crash=other]', null];
    expect(prompts.map((prompt) => sandbox.mayRepeat?.(prompt))).toEqual([true, false, true, true]);
  });

  it('The sandbox hangs until its signal aborts', async () => {
    const { sandbox } = stage();
    const job = aJob({ prompt: '[sandbox:hang]' });
    const stop = new AbortController();
    const hanging = sandbox.submit(job, stop.signal);
    stop.abort();
    await expect(hanging).rejects.toThrow('aborted at the deadline');
    await expect(sandbox.submit(job, AbortSignal.abort())).rejects.toThrow('aborted at the deadline');
  });
});

const jobOf = (prompt: string, change: Partial<PictureJob> = {}): PictureJob => ({
  prompt,
  seed: 0,
  width: 1024,
  height: 1024,
  format: 'png',
  ...change,
});

function countedPainter(): { paint: (job: PictureJob) => Promise<Buffer>; painted: string[] } {
  const painted: string[] = [];
  const paint = keepRecentPictures((job) => {
    painted.push(job.prompt);
    return job.prompt === 'broken'
      ? Promise.reject(new Error('no paint'))
      : Promise.resolve(Buffer.from(JSON.stringify(job)));
  });
  return { paint, painted };
}

/** The painter of the sandbox that keeps its last pictures. */
describe('A painter that keeps its last pictures', () => {
  it('The same job is painted once, also when two ask at the same time', async () => {
    const { paint, painted } = countedPainter();
    const both = await Promise.all([paint(jobOf('a lake')), paint(jobOf('a lake'))]);
    expect([...both, await paint(jobOf('a lake'))]).toEqual(Array(3).fill(both[0]));
    expect(painted).toEqual(['a lake']);
  });

  it.each([
    ['prompt', { prompt: 'a pier' }],
    ['seed', { seed: 1 }],
    ['width', { width: 832 }],
    ['height', { height: 832 }],
    ['format', { format: 'jpeg' }],
  ] as const)('A job with another %s gets a picture of its own', async (_member, change) => {
    const { paint } = countedPainter();
    await paint(jobOf('a lake'));
    expect((await paint(jobOf('a lake', change))).toString()).toBe(JSON.stringify(jobOf('a lake', change)));
  });

  it('The fifth picture replaces the picture whose last request is the oldest', async () => {
    const { paint, painted } = countedPainter();
    for (const prompt of ['1', '2', '3', '4', '1', '5', '1', '2']) await paint(jobOf(prompt));
    expect(painted).toEqual(['1', '2', '3', '4', '5', '2']);
  });

  it('A picture that failed is painted again, and a large picture is never kept', async () => {
    const { paint, painted } = countedPainter();
    const large = jobOf('large', { width: 2048, height: 2048 });
    for (const job of [jobOf('broken'), jobOf('broken')])
      await expect(paint(job)).rejects.toThrow('no paint');
    for (const job of [large, large]) await paint(job);
    expect(painted).toEqual(['broken', 'broken', 'large', 'large']);
  });
});

const marked = anAccount();
const unmarked: Account = without(anAccount(), 'sandbox');

describe('the offer of the sandbox', () => {
  it.each<[SandboxSetting, boolean, boolean]>([
    ['off', false, false],
    ['marked', true, false],
    ['on', true, true],
  ])('The setting %s offers it to a marked account: %j, and to another account: %j', (setting, ...offers) => {
    const isOffered = [marked, unmarked].map(
      (account) => asOffered(account, setting).policy.withoutSandbox === undefined,
    );
    expect(isOffered).toEqual(offers);
  });

  it('An account without the sandbox sees no model that only the sandbox renders', () => {
    const policy = { ...everything, withoutSandbox: true } as const;
    expect(isVisible(model('sandbox-pro'), policy)).toBe(false);
    expect(isVisible(model('gpt-image-2'), policy)).toBe(true);
  });

  it('A model with other routes, too, loses only its routes of the sandbox', () => {
    const [route] = model('sandbox-pro').routes;
    if (!route) throw new Error('the model has a route');
    const mixed = { ...model('sandbox-pro'), routes: [{ ...route, provider: 'fal' as const }, route] };
    const policy = { ...everything, withoutSandbox: true } as const;
    expect(isVisible(mixed, policy)).toBe(true);
    expect(
      enabledRoutes(mixed, policy, { enabledProviders: ['fal'] }).map(({ provider }) => provider),
    ).toEqual(['fal']);
  });

  it('An account that an older release wrote has no mark', () => {
    const old = stored.items.find(({ sk }) => sk.S === 'ACCOUNT');
    const account = accountFromItem(unmarshall(old as unknown as Parameters<typeof unmarshall>[0]));
    expect(account).not.toHaveProperty('sandbox');
    expect(asOffered(account, 'marked').policy).toEqual({ ...account.policy, withoutSandbox: true });
  });
});

describe('the directives of a prompt', () => {
  const sandbox = [{ provider: 'fal' as const }, { provider: 'sandbox' as const }];

  it.each(['hang', 'crash', 'delay=9m', 'async=3s', 'hang=sandbox', 'delay'])(
    'The directive %s needs a marked account, anywhere in the prompt',
    (directive) => {
      const prompt = `a [sandbox:fail] lake [sandbox:${directive}] at dawn`;
      expect(directiveProblems(prompt, sandbox, unmarked)).toMatchObject([
        { field: 'prompt', code: 'invalid_value' },
      ]);
      expect(directiveProblems(prompt, sandbox, marked)).toEqual([]);
    },
  );

  it('A prompt that no route of the sandbox may get is free', () => {
    expect(directiveProblems('[sandbox:hang]', [{ provider: 'fal' }], unmarked)).toEqual([]);
  });

  it('A prompt without such a directive is free', () => {
    for (const prompt of [null, '', 'hang', '[sandbox:fail]', '[sandbox:hangs]', '[Sandbox:hang]'])
      expect(directiveProblems(prompt, sandbox, unmarked)).toEqual([]);
  });
});
