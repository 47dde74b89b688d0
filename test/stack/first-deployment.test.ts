/**
 * What a first deployment leaves behind when it fails, and what would make it fail: names that are taken, and
 * resources that cannot be deleted again.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll, describe, expect, it } from 'vitest';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseSettings } from '../../lib/settings.ts';
import { nameOf, resourcesOf, template, wordOf } from './template.ts';

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
  readonly Properties?: Readonly<Record<string, unknown>>;
}

const resources = Object.entries(
  (template.toJSON() as { readonly Resources: Readonly<Record<string, Resource>> }).Resources,
);
const [[, protection] = ['', undefined]] = resourcesOf('Custom::TableProtection');

const folder = mkdtempSync(join(tmpdir(), 'darkroom-first-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The stack of the longest name that a stage gives, with a protected user pool. */
function longNamed(): Template {
  const name = `Darkroom-${'a'.repeat(30)}`;
  const context = { 'aws:cdk:bundling-stacks': [], '@aws-cdk/aws-iam:minimizePolicies': true };
  const app = new App({ outdir: folder, context });
  const settings = parseSettings('lib/config/test.ts', { portal: { protectUserPool: true } });
  new ServiceStack(app, name, { settings, pages: '' });
  app.synth();
  return Template.fromJSON(
    JSON.parse(readFileSync(join(folder, `${name}.template.json`), 'utf8')) as Record<string, unknown>,
  );
}

/** The name of a resource of CloudFront, which knows no regions. */
const globalNames: Readonly<Record<string, (properties: Readonly<Record<string, unknown>>) => unknown>> = {
  'AWS::CloudFront::KeyGroup': nameIn('KeyGroupConfig'),
  'AWS::CloudFront::PublicKey': nameIn('PublicKeyConfig'),
  'AWS::CloudFront::OriginAccessControl': nameIn('OriginAccessControlConfig'),
  'AWS::CloudFront::OriginRequestPolicy': nameIn('OriginRequestPolicyConfig'),
  'AWS::CloudFront::ResponseHeadersPolicy': nameIn('ResponseHeadersPolicyConfig'),
  'AWS::CloudFront::Function': ({ Name }) => Name,
  'AWS::CloudWatch::Dashboard': ({ DashboardName }) => DashboardName,
};

function nameIn(config: string): (properties: Readonly<Record<string, unknown>>) => unknown {
  return (properties) => (properties[config] as { readonly Name: unknown }).Name;
}

describe('the order of a deployment', () => {
  it('The table is protected after everything else has succeeded', () => {
    const awaited = new Set(protection?.DependsOn);
    const others = resources
      .filter(([id, { Type }]) => !awaited.has(id) && Type !== 'AWS::CDK::Metadata')
      .map(([id, { Type }]) => `${Type} ${nameOf(id)}`);
    expect(others.sort()).toEqual(['Custom::TableProtection TableProtectionProtected']);
  });

  it('The table is protected again when its definition changes', () => {
    expect(wordOf(protection?.Properties['TableName'])).toBe('@StoreTable');
    const [[, table] = []] = resourcesOf('AWS::DynamoDB::GlobalTable');
    const { Resources } = JSON.parse(String(protection?.Properties['Definition'])) as {
      readonly Resources: Readonly<Record<string, { readonly Properties: object }>>;
    };
    expect(Object.values(Resources).map(({ Properties }) => Properties)).toEqual([table?.Properties]);
  });

  it('CloudFormation can delete the table and the user pool of a deployment that failed, because the template protects nothing', () => {
    const found = resources.filter(([, { Properties }]) =>
      /"DeletionProtection(Enabled)?":(true|"ACTIVE")/.test(JSON.stringify(Properties ?? {})),
    );
    expect(found.map(([id]) => id)).toEqual([]);
  });

  it('A change of a logical id would remove all pages after they were published, so the id stays', () => {
    expect(resourcesOf('Custom::PortalPages').map(([id]) => id)).toEqual(['PortalPagesPublishedE882F323']);
  });
});

describe('what stays of a first deployment that failed', () => {
  it('Only the role of API Gateway stays behind a failed first deployment, with the setting that names it', () => {
    const kept = resources.filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain');
    expect(kept.map(([id, { Type }]) => `${Type} ${nameOf(id)}`).sort()).toEqual([
      'AWS::ApiGateway::Account StreamsLogRoleAccount',
      'AWS::IAM::Role StreamsLogRole',
    ]);
  });
});

describe('the names of a stack', () => {
  it('A second stack of the same name in another region finds no name of CloudFront or of a dashboard taken', () => {
    const named = resources.flatMap(([id, { Type, Properties = {} }]) => {
      const name = globalNames[Type]?.(Properties);
      return name === undefined ? [] : [[id, wordOf(name)] as const];
    });
    expect(named.length).toBeGreaterThanOrEqual(9);
    for (const [id, name] of named) expect(name, id).toContain('@AWS::Region');
  });

  it('No role, user, group or managed policy has a name, because their names hold in all regions', () => {
    for (const [id, { Type, Properties = {} }] of resources) {
      if (!Type.startsWith('AWS::IAM::') || Type === 'AWS::IAM::Policy') continue;
      for (const name of ['RoleName', 'UserName', 'GroupName', 'ManagedPolicyName', 'InstanceProfileName'])
        expect(Properties, id).not.toHaveProperty(name);
    }
  });

  it('The stack exports nothing', () => {
    const { Outputs } = template.toJSON() as { readonly Outputs: Readonly<Record<string, object>> };
    for (const [name, output] of Object.entries(Outputs)) expect(output, name).not.toHaveProperty('Export');
  });

  it('Every log group that AWS writes has a name under /aws/vendedlogs/, and the other logs have no names', () => {
    const names = resourcesOf('AWS::Logs::LogGroup').flatMap(
      ([, { Properties }]) => Properties['LogGroupName'] ?? [],
    );
    expect(names.sort()).toEqual([
      '/aws/vendedlogs/Darkroom/api',
      '/aws/vendedlogs/states/Darkroom-callbacks',
      '/aws/vendedlogs/states/Darkroom-creations',
      '/aws/vendedlogs/states/Darkroom-notices',
    ]);
  });

  it('The names stay within the limits of CloudFront, and protectUserPool protects the user pool', () => {
    const long = longNamed();
    for (const [type, read] of Object.entries(globalNames)) {
      const limit = type.endsWith('OriginAccessControl') || type.endsWith('Function') ? 64 : 128;
      const found = long.findResources(type) as Readonly<Record<string, Resource>>;
      for (const [id, { Properties = {} }] of Object.entries(found)) {
        const name = wordOf(read(Properties)).replace('@AWS::Region', 'ap-southeast-1');
        expect(name.length, `${id}: ${name}`).toBeLessThanOrEqual(limit);
      }
    }
    long.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
  });
});
