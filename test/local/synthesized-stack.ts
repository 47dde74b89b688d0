import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { App, CfnOutput, Duration, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import { CfnApi, CfnIntegration, CfnRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Code, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';

/** Synthesizes a small stack with each kind of resource that runs locally. Returns the template's path. */
export function synthesize(folder: string): string {
  const bundle = path.join(folder, 'bundle');
  mkdirSync(bundle);
  writeFileSync(path.join(bundle, 'index.mjs'), 'export const handler = () => ({});');
  const app = new App({
    outdir: path.join(folder, 'cdk.out'),
    context: { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true },
  });
  const stack = new Stack(app, 'Darkroom');
  const table = new TableV2(stack, 'Main', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: 'open-work',
        partitionKey: { name: 'work', type: AttributeType.STRING },
        projectionType: ProjectionType.KEYS_ONLY,
      },
    ],
    timeToLiveAttribute: 'expires_at',
    deletionProtection: true,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
  const bucket = new Bucket(stack, 'Images', {
    removalPolicy: RemovalPolicy.RETAIN,
    lifecycleRules: [
      { prefix: 'sources/', expiration: Duration.days(1) },
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
  });
  const secret = new Secret(stack, 'WebhookKey', {
    secretName: 'webhook-key',
    generateSecretString: { passwordLength: 44 },
  });
  const distribution = new Distribution(stack, 'Cdn', {
    defaultBehavior: { origin: S3BucketOrigin.withOriginAccessControl(bucket as IBucket) },
  });
  const render = new Lambda(stack, 'Render', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(bundle),
  });
  const fn = new Lambda(stack, 'Submit', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(bundle),
    timeout: Duration.seconds(29),
  });
  const machine = new StateMachine(stack, 'Creation', {
    definitionBody: DefinitionBody.fromString(
      JSON.stringify({
        StartAt: 'RenderImage',
        States: { RenderImage: { Type: 'Task', Resource: '${RenderImage}', End: true } },
      }),
    ),
    definitionSubstitutions: { RenderImage: render.functionArn },
  });
  for (const [name, value] of Object.entries({
    TABLE: table.tableName,
    MACHINE: machine.stateMachineArn,
    BUCKET: bucket.bucketName,
    SECRET: secret.secretArn,
    IMAGES: `https://${distribution.distributionDomainName}`,
  })) {
    fn.addEnvironment(name, value);
  }
  table.grantReadWriteData(fn);
  bucket.grantPut(fn);
  secret.grantRead(fn);
  machine.grantStartExecution(fn);
  const api = new CfnApi(stack, 'Api', { name: 'api', protocolType: 'HTTP' });
  const integration = new CfnIntegration(stack, 'Integration', {
    apiId: api.ref,
    integrationType: 'AWS_PROXY',
    integrationUri: fn.functionArn,
    payloadFormatVersion: '2.0',
  });
  new CfnRoute(stack, 'Route', {
    apiId: api.ref,
    routeKey: 'POST /images/generate',
    target: `integrations/${integration.ref}`,
  });
  new Schedule(stack, 'EveryMinute', {
    schedule: ScheduleExpression.rate(Duration.minutes(1)),
    target: new LambdaInvoke(fn, { input: ScheduleTargetInput.fromText('{}') }),
  });
  new Rule(stack, 'Failed', {
    eventPattern: {
      source: ['aws.states'],
      detail: { status: ['FAILED'], stateMachineArn: [machine.stateMachineArn] },
    },
    targets: [new LambdaFunction(fn)],
  });
  new CfnOutput(stack, 'Endpoint', { value: `${api.attrApiEndpoint}/api` });
  Tags.of(stack).add('service', 'darkroom');
  app.synth();
  return path.join(folder, 'cdk.out', 'Darkroom.template.json');
}
