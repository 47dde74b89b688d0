import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { resourcesOf } from './template.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'darkroom-synth-'));
afterAll(async () => rm(folder, { recursive: true, force: true }));

/**
 * A machine that has neither credentials nor a way out: every proxy is a closed port, and Node is told to use
 * it.
 */
function offline(): NodeJS.ProcessEnv {
  const nowhere = 'http://127.0.0.1:9';
  const bare = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(AWS_|CDK_|VITEST|NODE_OPTIONS)/.test(name)),
  );
  const proxies = {
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: '',
    no_proxy: '',
  };
  return { ...bare, ...proxies, NODE_USE_ENV_PROXY: '1', HOME: folder, AWS_EC2_METADATA_DISABLED: 'true' };
}

describe('npx cdk synth', () => {
  it('The command npx cdk synth needs no credentials and no network, and gives the template of the local service without a warning', async () => {
    const output = join(folder, 'cdk.out');
    const { stderr } = await promisify(execFile)(
      'npx',
      ['--no-install', 'cdk', 'synth', '--quiet', '--output', output],
      { cwd: root, env: offline() },
    );
    const { Resources } = JSON.parse(await readFile(join(output, 'Darkroom.template.json'), 'utf8')) as {
      Resources: Record<string, { Type: string }>;
    };
    const { artifacts } = JSON.parse(await readFile(join(output, 'manifest.json'), 'utf8')) as {
      artifacts: Record<string, { properties?: { terminationProtection?: boolean } }>;
    };
    expect(artifacts['Darkroom']?.properties?.terminationProtection).toBe(true);
    const types = [
      'AWS::Lambda::Function',
      'AWS::ApiGatewayV2::Route',
      'AWS::StepFunctions::StateMachine',
      'AWS::DynamoDB::GlobalTable',
    ];
    const ids = (type: string): string[] =>
      Object.keys(Resources).filter((id) => Resources[id]?.Type === type);
    for (const type of types)
      expect(ids(type).sort()).toEqual(
        resourcesOf(type)
          .map(([id]) => id)
          .sort(),
      );
    // npm warns about the settings of the machine on which it runs.
    const ours = stderr.split('\n').filter((line) => !line.startsWith('npm '));
    expect(ours.filter((line) => /warning|reserved|deprecated|no effect/i.test(line))).toEqual([]);
  });
});
