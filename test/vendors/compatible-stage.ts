/** The compatible adapter in each style, connected with the fake of a server of that style. */
import type { CompatibleRow } from '../../lab/vendors/fakes/compatible/rows.ts';
import { rulesOf, startFakeServer } from '../../lab/vendors/fakes/compatible/server.ts';
import type { FakeStyle } from '../../lab/vendors/fakes/compatible/rules.ts';
import { type FakeVendor, pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { styleNames } from '../../service/catalog/providers.ts';
import { createCompatible } from '../../service/vendors/compatible/provider.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
import { jobsLike, talkTo } from './vendor-talk.ts';

export const prompt = 'A lighthouse that nobody may read about';
export const fakeStyles = styleNames.filter(
  (style): style is FakeStyle => style !== 'openai' && style !== 'comfyui',
);

export interface Stage {
  readonly style: FakeStyle;
  readonly fake: FakeVendor;
  /** The key that the fake accepts. Null: it asks for none. */
  readonly key: string | null;
  readonly rows: readonly CompatibleRow[];
  readonly talk: ReturnType<typeof talkTo>;
  readonly aJob: ReturnType<typeof jobsLike>;
  /** What the fake was asked to paint: format, width and height. It sends small pictures of the format. */
  readonly painted: readonly unknown[];
}

/** Starts the fakes of all styles. The caller stops them. */
export async function startStages(): Promise<{
  readonly all: readonly Stage[];
  readonly of: (style: FakeStyle) => Stage;
  readonly stop: () => Promise<unknown>;
}> {
  const all = await Promise.all(fakeStyles.map(startStage));
  return {
    all,
    of: (style) => {
      const found = all.find((one) => one.style === style);
      if (!found) throw new Error(`no stage of ${style}`);
      return found;
    },
    stop: async () => Promise.all(all.map(({ fake }) => fake.stop())),
  };
}

async function startStage(style: FakeStyle): Promise<Stage> {
  const painted: unknown[] = [];
  const fake = await startFakeServer(style, (format, width, height) => {
    painted.push([format, width, height]);
    return pictureOf(format, 64, 64);
  });
  const { key, models, rows } = rulesOf[style];
  const talk = talkTo({
    name: style,
    create: (settings) =>
      createCompatible({
        baseUrl: fake.url,
        ...settings,
        style: styles[style],
        credential: key === null ? 'none' : 'key',
      }),
    fake,
    key: key ?? 'never sent',
  });
  const [firstModel = ''] = Object.keys(models);
  const aJob = jobsLike({
    providerModel: style === 'xai' ? 'grok-imagine-image-2.0' : firstModel,
    prompt,
    resolution: style === 'ark' ? '2K' : '1K',
    outputFormat: style === 'ark' || style === 'xai' ? 'jpeg' : 'png',
    ...(['xai', 'litellm'].includes(style) && { quality: 'low' }),
  });
  return { style, fake, key, rows, talk, aJob, painted };
}
