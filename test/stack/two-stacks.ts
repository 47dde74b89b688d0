/** The stack without any setting, and with a value for every setting. No setting changes the bundles: there are none. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseSettings } from '../../lib/settings.ts';
import { fullSettings } from './full-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-full-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});

const app = new App({
  outdir: folder,
  context: { 'aws:cdk:bundling-stacks': [], 'aws:cdk:enable-asset-metadata': true },
});
new ServiceStack(app, 'Darkroom-full', { settings: parseSettings('full', fullSettings), pages: '' });
new ServiceStack(app, 'Darkroom-plain', { settings: parseSettings('plain', {}), pages: '' });
app.synth();

export type StackName = 'plain' | 'full';

export const pathOf = (name: StackName): string => join(folder, `Darkroom-${name}.template.json`);

interface StackTemplate {
  readonly Resources: Readonly<Record<string, { readonly Type: string }>>;
  readonly Outputs: Readonly<Record<string, object>>;
}

export function readStack(name: StackName): StackTemplate {
  return JSON.parse(readFileSync(pathOf(name), 'utf8')) as StackTemplate;
}
