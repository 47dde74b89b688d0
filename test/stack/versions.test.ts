/** The versions of the functions: what the definition names, and what remains of an earlier release. */
import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { CreationExecution } from '../../lib/creation-execution.ts';
import { ServiceStack } from '../../lib/service-stack.ts';
import { ServiceFunction } from '../../lib/service-function.ts';
import { parseSettings } from '../../lib/settings.ts';
import { nameOf, resolved, resourcesOf, wordOf } from './template.ts';

const folder = await mkdtemp(join(tmpdir(), 'darkroom-versions-'));
afterAll(async () => rm(folder, { recursive: true, force: true }));

const tasks = ['DeliverWebhook', 'RefundCharge', 'RenderImage', 'RenderImageLarge', 'RenderImageSmall'];
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };

/** The logical ids of the versions in a stack that a test has changed. The functions are not bundled. */
function versionsOf(name: string, change?: (stack: ServiceStack) => void): string[] {
  const outdir = join(folder, name);
  const app = new App({ outdir, context: { ...context, 'aws:cdk:bundling-stacks': [] } });
  const stack = new ServiceStack(app, 'Darkroom', { settings: parseSettings(name, {}), pages: '' });
  change?.(stack);
  app.synth();
  const { Resources } = JSON.parse(readFileSync(join(outdir, 'Darkroom.template.json'), 'utf8')) as {
    Resources: Record<string, { Type: string }>;
  };
  return Object.entries(Resources).flatMap(([id, { Type }]) => (Type === 'AWS::Lambda::Version' ? [id] : []));
}

function functionOf(stack: ServiceStack, id: string): ServiceFunction {
  const fn = stack.node.findChild(id);
  if (!(fn instanceof ServiceFunction)) throw new Error(`${id} is not a function`);
  return fn;
}

describe('the versions of the functions', () => {
  it('Each function of the state machine has a version, and the definition names nothing but versions', () => {
    const versions = resourcesOf('AWS::Lambda::Version');
    expect(versions.map(([, { Properties }]) => wordOf(Properties['FunctionName'])).sort()).toEqual(
      tasks.map((name) => `@${name}`),
    );
    const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf('AWS::StepFunctions::StateMachine');
    const named = Object.values(
      (Properties as { DefinitionSubstitutions: Record<string, { Ref: string }> }).DefinitionSubstitutions,
    );
    expect(named.map(({ Ref }) => Ref).sort()).toEqual(versions.map(([id]) => id).sort());
    const arns = resolved.stateMachines[0]?.definition.match(/arn:aws:lambda:[^'"]+/g) ?? [];
    expect(arns).toHaveLength(tasks.length);
    for (const arn of arns) expect(arn).toMatch(/:function:\w+:1$/);
  });

  it('An update keeps the version of the release before, and the rollback of a failed deployment removes its own', () => {
    for (const [, resource] of resourcesOf('AWS::Lambda::Version'))
      expect(resource).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
  });

  it('The role of the state machine may invoke the versions of every release, and the functions that releases before the versions named', () => {
    const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf('AWS::StepFunctions::StateMachine');
    const role = wordOf((Properties as Record<string, unknown>)['RoleArn']).slice(1);
    const [, statements = []] = [...resolved.policies].find(([id]) => nameOf(id) === role) ?? [];
    const invoked = statements
      .filter(({ Action }) => Action === 'lambda:InvokeFunction')
      .flatMap(({ Resource = [] }) => Resource)
      .map((arn) => arn.replace(/^.*:function:(\w+?)[0-9A-F]{8}/, '$1'));
    expect(invoked.sort()).toEqual(tasks.flatMap((name) => [name, `${name}:*`]).sort());
  });
});

describe('a state machine and its functions', () => {
  it.each([
    [['RenderImage'], 'creation.asl.json names RenderImageSmall, and lib/execution-functions.ts has no such'],
    [[...tasks, 'Stranger'], 'No state of statemachines/creation.asl.json invokes the function Stranger.'],
  ])('The synthesis stops when the functions are %j', (names, sentence) => {
    const stack = new Stack();
    const props = { code: Code.fromInline('0'), handler: 'index.handler', runtime: Runtime.NODEJS_24_X };
    const functions = names.map((name) => new LambdaFunction(stack, name, props));
    const execution = { tasks: functions, logRetention: 30, tracing: false };
    expect(() => new CreationExecution(stack, 'Creation', execution)).toThrow(sentence);
  });
});

describe('the default', () => {
  it('Without the setting apiTraffic there is no alias, no deployment group, and no version of an API function', () => {
    for (const type of [
      'AWS::Lambda::Alias',
      'AWS::CodeDeploy::DeploymentGroup',
      'AWS::CodeDeploy::Application',
    ])
      expect(resourcesOf(type)).toEqual([]);
    for (const [, { Properties }] of resourcesOf('AWS::ApiGatewayV2::Integration'))
      expect(wordOf(Properties['IntegrationUri'])).toMatch(/^@[A-Z]\w+$/);
  });

  it('The output VersionedFunctions names the functions that have versions', () => {
    expect((resolved.outputs['VersionedFunctions'] ?? '').split(',').map(nameOf).sort()).toEqual(tasks);
  });
});

describe('a new version', () => {
  it('A new version comes with another environment, memory or code of its function, and not with another concurrency or order', () => {
    const before = versionsOf('before');
    const after = versionsOf('after', (stack) => {
      const change = (id: string, properties: object): unknown =>
        Object.assign(functionOf(stack, id).node.defaultChild ?? {}, properties);
      functionOf(stack, 'RefundCharge').addEnvironment('ANOTHER', 'value');
      change('DeliverWebhook', { memorySize: 640 });
      change('RenderImage', { code: { s3Bucket: 'bucket', s3Key: 'other.zip' } });
      // A version does not hold these two.
      change('RenderImageSmall', { reservedConcurrentExecutions: 10 });
      functionOf(stack, 'RenderImageLarge').node.addDependency(functionOf(stack, 'AuditBooks'));
    });
    expect(after).toHaveLength(before.length);
    const changed = after.filter((id) => !before.includes(id));
    expect(changed.map((id) => id.replace(/CurrentVersion.*$/, '')).sort()).toEqual([
      'DeliverWebhook',
      'RefundCharge',
      'RenderImage',
    ]);
  });
});
