import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { template } from './template.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'darkroom-synth-'));
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** The ids of what exists only where the settings ask for payments, or for signed addresses. */
const ofOneMachine = /payment|PortalPay|autotopup|ImagesResult/i;

/**
 * A machine without credentials and without a network: every proxy is a closed port, and Node must use the proxy. The
 * bundles are left out: template.ts made them by the same app.
 */
function offline(): NodeJS.ProcessEnv {
  const bare = Object.entries(process.env).filter(([name]) => !/^(AWS_|CDK_|VITEST|NODE_OPTIONS)/.test(name));
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
  return Object.fromEntries<string | undefined>([
    ...bare,
    ...proxies.map((name) => [name, 'http://127.0.0.1:9'] as const),
    ['NO_PROXY', ''],
    ['no_proxy', ''],
    ['NODE_USE_ENV_PROXY', '1'],
    ['NODE_OPTIONS', `--import=${import.meta.resolve('./without-bundles.ts')}`],
    ['HOME', folder],
    ['AWS_EC2_METADATA_DISABLED', 'true'],
  ]);
}

describe('npx cdk synth', () => {
  it('The command npx cdk synth needs no credentials and no network, and gives the template of the local service, which alone takes payments and signs addresses, without a warning', async () => {
    const output = join(folder, 'cdk.out');
    const { stderr } = await promisify(execFile)(
      'npx',
      ['--no-install', 'cdk', 'synth', '--quiet', '--output', output],
      { cwd: root, env: offline() },
    );
    const { Resources } = JSON.parse(await readFile(join(output, 'Darkroom.template.json'), 'utf8')) as {
      Resources: object;
    };
    const { artifacts } = JSON.parse(await readFile(join(output, 'manifest.json'), 'utf8')) as {
      artifacts: Record<string, { properties?: { terminationProtection?: boolean } }>;
    };
    expect(artifacts['Darkroom']?.properties?.terminationProtection).toBe(true);
    // The command adds metadata of its own. The id of a version depends on the bundle.
    const idsOf = (resources: object): string[] =>
      Object.keys(resources).map((id) => id.replace(/CurrentVersion.*/, ''));
    const { Resources: local } = template.toJSON() as { Resources: object };
    const ofEach = idsOf(local).filter((id) => !ofOneMachine.test(id));
    expect(ofEach.length).toBeLessThan(idsOf(local).length - 25);
    expect(idsOf(Resources).sort()).toEqual([...ofEach, 'CDKMetadata'].sort());
    // npm warns about the settings of the machine on which it runs.
    const ours = stderr.split('\n').filter((line) => !line.startsWith('npm '));
    expect(ours.filter((line) => /warning|reserved|deprecated|no effect/i.test(line))).toEqual([]);
  });
});
