/** The stack under the rules AwsSolutions of cdk-nag. A finding is corrected, or its resource has a reason. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseSettings } from '../../lib/settings.ts';
import { fullSettings } from './full-settings.ts';
import { serviceUrl } from '../../service/aws/aws-place.ts';
import { templatePath } from './template.ts';

const folder = await mkdtemp(join(tmpdir(), 'darkroom-nag-'));
afterAll(async () => rm(folder, { recursive: true, force: true }));

interface Report {
  readonly pluginReports: readonly {
    readonly violations: readonly {
      readonly ruleName: string;
      readonly violatingConstructs: readonly { readonly constructPath: string }[];
    }[];
  }[];
}

/** The stack with every setting, and one bucket without reasons. No rule reads a bundle, so there is none. */
function synthesizeWithBucket(): void {
  const context = { 'aws:cdk:bundling-stacks': [], '@aws-cdk/aws-iam:minimizePolicies': true };
  const app = new App({ outdir: folder, context });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const settings = parseSettings('full', fullSettings);
  new Bucket(new ServiceStack(app, 'Darkroom', { settings, pages: '' }), 'Uploads');
  app.synth();
}

describe('cdk-nag', () => {
  it('The tool cdk-nag finds in the stack with every setting nothing but a bucket that is added without reasons', async () => {
    vi.stubEnv('CDK_VALIDATION', undefined);
    expect(synthesizeWithBucket).toThrow();
    vi.unstubAllEnvs();
    const { pluginReports } = JSON.parse(
      await readFile(join(folder, 'validation-report.json'), 'utf8'),
    ) as Report;
    const findings = pluginReports
      .flatMap(({ violations }) => violations)
      .flatMap(({ ruleName, violatingConstructs }) =>
        violatingConstructs.map(({ constructPath }) => `${ruleName} ${constructPath}`),
      );
    expect(findings).toEqual([
      'AwsSolutions-S1 Darkroom/Uploads/Resource',
      'AwsSolutions-S10 Darkroom/Uploads/Resource',
    ]);
  });
});

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The lines of the deployed code and of its template with this text. */
function linesWith(text: string): readonly string[] {
  const sources = ['functions', 'lib', 'service', 'statemachines'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name)),
  );
  return [...sources, templatePath].flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes(text))
      .map((line) => line.trim()),
  );
}

it('No code and no template writes the domain of AWS, except in the name of a service as a principal', () => {
  const isPrincipal =
    /^("(Service|Principal)": "[a-z]+\.amazonaws\.com",?|.*ServicePrincipal\('[a-z]+\.amazonaws\.com'\).*)$/;
  const lines = linesWith('.amazonaws.com');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !isPrincipal.test(line))).toEqual([]);
});

it('The address of a service has the domain of its partition', () => {
  const china = { region: 'cn-north-1', urlSuffix: 'amazonaws.com.cn' };
  expect(serviceUrl('dynamodb', china)).toBe('https://dynamodb.cn-north-1.amazonaws.com.cn');
  expect(serviceUrl('dynamodb', { ...china, endpoint: 'http://127.0.0.1:1/' })).toBe('http://127.0.0.1:1');
});
