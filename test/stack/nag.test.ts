/** The stack under the rules AwsSolutions of cdk-nag. A finding is mended, or its resource has a reason. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it } from 'vitest';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseSettings, type SettingsInput } from '../../lib/settings.ts';
import { readTemplate } from '../../local/template.ts';
import { fullSettings } from './full-settings.ts';
import { synthUnchecked } from './synth-unchecked.ts';
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

/**
 * Findings as "rule construct", and the template. The functions are not bundled, since no rule reads bundles.
 */
async function check(
  name: string,
  settings: SettingsInput,
  change: (stack: ServiceStack) => void = () => undefined,
): Promise<{ findings: string[]; template: string }> {
  const outdir = join(folder, name);
  const app = new App({
    outdir,
    context: {
      'aws:cdk:bundling-stacks': [],
      'aws:cdk:enable-asset-metadata': true,
      '@aws-cdk/aws-iam:minimizePolicies': true,
    },
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  change(new ServiceStack(app, 'Darkroom', { settings: parseSettings(name, settings), pages: '' }));
  const template = join(outdir, 'Darkroom.template.json');
  try {
    // One of the stacks is enough for CDK's own check: the stack that has every setting.
    if (settings === fullSettings) app.synth();
    else synthUnchecked(app);
    return { findings: [], template };
  } catch (error) {
    const { pluginReports } = JSON.parse(
      await readFile(join(outdir, 'validation-report.json'), 'utf8').catch(() =>
        Promise.reject(error as Error),
      ),
    ) as Report;
    const violations = pluginReports.flatMap((report) => report.violations);
    return {
      findings: violations.flatMap(({ ruleName, violatingConstructs }) =>
        violatingConstructs.map(({ constructPath }) => `${ruleName} ${constructPath}`),
      ),
      template,
    };
  }
}

describe('cdk-nag', () => {
  it('The tool cdk-nag finds nothing in the stack with every setting, which one machine could serve', async () => {
    const { findings, template } = await check('full', fullSettings);
    expect(findings).toEqual([]);
    const { outputs, functions, policies } = readTemplate(template);
    expect(outputs).toMatchObject({
      ApiUrl: 'https://api.example.com/api/public/v1',
      ResultsBaseUrl: 'https://images.example.com',
      DefaultLimits: JSON.stringify(fullSettings.limits),
    });
    expect(functions.every(({ environment }) => environment['METRICS_NAMESPACE'] === 'Darkroom')).toBe(true);
    // Every grant of the table is one of the restored table, but for the protection of the stack's own.
    const granted = [...policies.values()]
      .flat()
      .map((statement) => JSON.stringify(statement))
      .filter((text) => text.includes('dynamodb:') && !text.includes('dynamodb:UpdateTable'));
    expect(granted.length).toBeGreaterThan(0);
    for (const text of granted) expect(text).toMatch(/:table\/Darkroom-restored-2026-11-21(\/index\/\w+)?"/);
  });

  it('The tool cdk-nag finds in the stack without settings nothing but a bucket that is added without reasons', async () => {
    const { findings } = await check('open', {}, (stack) => {
      new Bucket(stack, 'Uploads');
    });
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
