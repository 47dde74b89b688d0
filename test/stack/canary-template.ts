/** The template of a stack with a canary, which one machine serves. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import * as z from 'zod';
import { bundleText } from '../../lib/bundling/bundle-text.ts';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseSettings } from '../../lib/settings.ts';
import { synthUnchecked } from './synth-unchecked.ts';
import { templatePath } from './template.ts';

const templateSchema = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({ Type: z.string(), Metadata: z.record(z.string(), z.unknown()).optional() }),
  ),
});
const read = (path: string): z.infer<typeof templateSchema> =>
  templateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));

/**
 * Synthesizes into the folder, and gives the path of the template. The settings change no bundle, so only the
 * canary is bundled: all other functions have the bundles of the stack without settings.
 */
export function canaryTemplate(folder: string): string {
  const app = new App({
    outdir: folder,
    context: {
      'aws:cdk:bundling-stacks': [],
      'aws:cdk:enable-asset-metadata': true,
      '@aws-cdk/aws-iam:minimizePolicies': true,
    },
  });
  const settings = parseSettings('canary', { canary: { everyMinutes: 5 }, tracing: true });
  new ServiceStack(app, 'Darkroom', { settings, pages: '' });
  synthUnchecked(app);
  const path = join(folder, 'Darkroom.template.json');
  const template = read(path);
  const bundled = read(templatePath);
  for (const [id, resource] of Object.entries(template.Resources)) {
    if (resource.Type !== 'AWS::Lambda::Function') continue;
    const asset = bundled.Resources[id]?.Metadata?.['aws:asset:path'];
    const from = typeof asset === 'string' ? resolve(dirname(templatePath), asset) : bundleCanary(folder);
    resource.Metadata = { ...resource.Metadata, 'aws:asset:path': from };
  }
  writeFileSync(path, JSON.stringify(template));
  return path;
}

function bundleCanary(folder: string): string {
  const to = join(folder, 'canary');
  mkdirSync(to);
  const text = bundleText({ entryPoints: ['functions/canary.ts'] }, false);
  writeFileSync(join(to, 'index.mjs'), text);
  return to;
}
