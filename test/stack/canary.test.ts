/** The template of a stack with a canary, which one machine serves. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { App } from 'aws-cdk-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bundleText } from '../../lib/bundling/bundle-text.ts';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseSettings } from '../../lib/settings.ts';
import { admin, adminJson, refusal } from '../admin/admin-run.ts';
import { sharedTestService, startTestService, type TestService } from '../fixtures/service.ts';
import { jsonObject } from '../fixtures/values.ts';
import { nameOf, templatePath } from './template.ts';

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
function canaryTemplate(folder: string): string {
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
  app.synth();
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

/** The canary against a whole service: the operator sets it up, the schedule runs it, and it finds a fault. */
let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-canary-'));
  service = await startTestService({ templatePath: canaryTemplate(folder) });
}, 120_000);
afterAll(async () => {
  await service.end();
  await rm(folder, { recursive: true, force: true });
});

/** The lines of the canary so far. */
const lines = (): Readonly<Record<string, unknown>>[] =>
  service.log.map(jsonObject).filter(({ component }) => component === 'canary');

/** Sets the clock forward to the next run of the canary, and gives the line of its end. */
async function nextRun(): Promise<Readonly<Record<string, unknown>>> {
  const before = lines().length;
  await service.machine.advance(300);
  for (;;) {
    const line = lines()[before];
    if (line) return line;
    await sleep(50);
  }
}

describe('The canary', () => {
  it('A canary that nobody has set up says so', async () => {
    expect(await nextRun()).toMatchObject({ event: 'canary_failed', step: 'set_up' });
    expect(await refusal(service.folder, 'canary', 'show')).toContain('run `canary setup`');
  });

  it('After canary setup, a run orders a picture, is charged for it once, and becomes two metrics', async () => {
    const made = await adminJson(service.folder, 'canary', 'setup', '--balance', '5');
    expect(made).toMatchObject({ available: 5, condition: 'active', model: 'sandbox-sketch' });
    const line = await nextRun();
    expect(line, JSON.stringify(line)).toMatchObject({ event: 'canary_succeeded', CanarySucceeded: 1 });
    expect(line['CanaryMillis']).toBe(line['millis']);
    expect(await adminJson(service.folder, 'canary', 'show')).toMatchObject({
      account: made['account'],
      available: 4.99,
    });
    expect(await service.audit()).toEqual([]);
  });

  it('A second setup keeps the account, fills the balance up, and replaces the key', async () => {
    const before = await adminJson(service.folder, 'canary', 'show');
    const after = await adminJson(service.folder, 'canary', 'setup', '--balance', '6');
    expect(after).toMatchObject({ account: before['account'], available: 6 });
    const { data } = await adminJson(service.folder, 'keys', 'list', String(before['account']));
    const revoked = (data as Readonly<Record<string, unknown>>[]).map((key) => [
      key['id'] === after['key_id'],
      key['revoked_at'] !== null,
      key['models'],
    ]);
    expect(revoked.sort()).toEqual([
      [false, true, ['sandbox-sketch']],
      [true, false, ['sandbox-sketch']],
    ]);
    expect(await nextRun()).toMatchObject({ event: 'canary_succeeded' });
  });

  it('A service that takes no orders fails the step that orders', async () => {
    const { account } = await adminJson(service.folder, 'canary', 'show');
    const said = await admin(service.folder, 'accounts', 'set', String(account), '--providers', 'none');
    expect(said.code, said.complaint).toBe(0);
    expect(await nextRun()).toMatchObject({ event: 'canary_failed', step: 'price' });
  });

  it('The function of the canary uses its one grant beside its log, and nothing is refused to it', () => {
    const fn = service.machine.template.functions.find(({ id }) => nameOf(id) === 'Canary');
    const used = [...service.machine.usedGrants()].filter((use) => use.startsWith(`${fn?.roleId} `));
    expect(used.map((use) => use.split(' ')[1])).toEqual(['secretsmanager:GetSecretValue']);
  });
});

describe('A stack without a canary', () => {
  it('The commands of the canary say which setting is missing, and make no account', async () => {
    const without = await sharedTestService();
    expect(await refusal(without.folder, 'canary', 'setup')).toContain('set `canary` in its settings');
    const { data } = await adminJson(without.folder, 'accounts', 'list');
    expect((data as { name: string }[]).map(({ name }) => name)).not.toContain('Canary');
    await without.end();
  });
});
