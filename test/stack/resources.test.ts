import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  apiRoot,
  callbackRoute,
  functionOf,
  operations,
  portalOperations,
  portalRoot,
  stripeEventsRoute,
} from '../../service/contract/operations.ts';
import { operatorRoot } from '../../service/contract/operator-operations.ts';
import { portalRoutes } from '../../lib/portal/routes.ts';
import { createRouter } from '../../local/gateway/router.ts';
import { nameOf, resolved, resourcesOf, template } from './template.ts';

const portalFunctions = {
  'sign-in': 'PortalSignIn',
  read: 'PortalRead',
  manage: 'PortalManage',
  generate: 'PortalGenerate',
  cancel: 'PortalCancel',
  pay: 'PortalPay',
  operate: 'PortalOperate',
} as const;

describe('the HTTP API', () => {
  it('The HTTP API has a route to its function for each operation of the contract, one for callbacks, one for the events of Stripe, one for the operator API, those of the portal, and one for everything else', () => {
    const routes = resolved.routes.map(({ routeKey, functionId }) => [routeKey, nameOf(functionId)]);
    const stated = Object.values(operations).map((operation) => [
      `${operation.method} ${apiRoot}${operation.path}`,
      functionOf(operation),
    ]);
    const others = [
      ['$default', 'UnknownRoute'],
      [`ANY ${operatorRoot}/{proxy+}`, 'OperatorApi'],
      [`POST ${callbackRoute}`, 'ReceiveCallback'],
      [`POST ${stripeEventsRoute}`, 'ReceivePayment'],
    ];
    const portal = portalRoutes(new Set(Object.keys(portalFunctions)));
    const ofPortal = portal.map(([method, path, name]) => [`${method} ${path}`, portalFunctions[name]]);
    const wanted = new Map([...stated, ...ofPortal, ...others].map((one) => [String(one), one]));
    expect(routes.sort()).toEqual([...wanted.values()].sort());
  });

  it('A request for each operation of the portal reaches its function, by a route of its own or by one for many paths', () => {
    const find = createRouter(resolved.routes);
    for (const { method, path, function: name } of Object.values(portalOperations)) {
      const found = find(method, `${portalRoot}${path.replace('{id}', 'some-id')}`);
      expect([path, nameOf(found?.route.functionId ?? '')]).toEqual([path, portalFunctions[name]]);
    }
  });

  it('Every route has a throttle of its own, which CloudFormation sets once the route exists, and all have twice as much', () => {
    const stage = resourcesOf('AWS::ApiGatewayV2::Stage')[0]?.[1];
    const routes = resourcesOf('AWS::ApiGatewayV2::Route');
    const keys = routes.map(([, { Properties }]) => String(Properties['RouteKey']));
    expect(keys).toEqual(expect.arrayContaining(['$default', `POST ${callbackRoute}`]));
    expect(stage?.Properties['RouteSettings']).toEqual(
      Object.fromEntries(keys.map((key) => [key, { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 }])),
    );
    expect(stage?.DependsOn).toEqual(expect.arrayContaining(routes.map(([id]) => id)));
    expect(stage?.Properties['DefaultRouteSettings']).toEqual({
      ThrottlingRateLimit: 1_000,
      ThrottlingBurstLimit: 2_000,
    });
  });

  it('The HTTP API calls its functions with payload format 2.0', () => {
    for (const [, { Properties }] of resourcesOf('AWS::ApiGatewayV2::Integration')) {
      expect(Properties).toMatchObject({ IntegrationType: 'AWS_PROXY', PayloadFormatVersion: '2.0' });
    }
  });
});

describe('the table', () => {
  it('The table is on demand, with point-in-time recovery and time to live', () => {
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: 'expiresAtSeconds', Enabled: true },
      Replicas: [
        Match.objectLike({
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    });
  });

  it('The table has two indexes that hold keys only', () => {
    const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf('AWS::DynamoDB::GlobalTable');
    expect((Properties as Record<string, unknown>)['GlobalSecondaryIndexes']).toEqual([
      {
        IndexName: 'open_work',
        KeySchema: [
          { AttributeName: 'openShard', KeyType: 'HASH' },
          { AttributeName: 'dueAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
      {
        IndexName: 'listing',
        KeySchema: [
          { AttributeName: 'listing', KeyType: 'HASH' },
          { AttributeName: 'listed', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ]);
  });
});

describe('what CloudFront may read', () => {
  it('The policy of the bucket lets the distribution read results/* and nothing else', () => {
    const policies = resourcesOf('AWS::S3::BucketPolicy').filter(([id]) => id.startsWith('Images'));
    const [[, { Properties }] = ['', { Properties: {} }]] = policies;
    const { Statement } = (Properties as { PolicyDocument: { Statement: Record<string, unknown>[] } })
      .PolicyDocument;
    const allowed = Statement.filter(({ Effect }) => Effect === 'Allow');
    expect(allowed).toHaveLength(1);
    expect(allowed[0]).toMatchObject({
      Action: 's3:GetObject',
      Principal: { Service: 'cloudfront.amazonaws.com' },
    });
    const { Condition, Resource } = allowed[0] ?? {};
    expect(JSON.stringify(Condition)).toMatch(/:distribution\/.*ImagesDistribution/);
    expect(resolved.distributions.map(({ bucket, readable }) => [bucket, readable])).toEqual([
      [resolved.buckets[0]?.name, [`arn:aws:s3:::${resolved.buckets[0]?.name ?? ''}/results/*`]],
      [resolved.buckets[1]?.name, [`arn:aws:s3:::${resolved.buckets[1]?.name ?? ''}/*`]],
    ]);
    expect(JSON.stringify(Resource)).toContain('/results/*');
  });

  it('The distribution signs its requests to the bucket', () => {
    template.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: {
        OriginAccessControlOriginType: 's3',
        SigningBehavior: 'always',
        SigningProtocol: 'sigv4',
      },
    });
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Origins: [{ OriginAccessControlId: Match.anyValue(), S3OriginConfig: { OriginAccessIdentity: '' } }],
      },
    });
  });
});

describe('the bucket', () => {
  it('The bucket blocks public access, is encrypted, and refuses requests without TLS', () => {
    template.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
    });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: 's3:*',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ]),
      },
    });
  });
});

describe('the schedules', () => {
  const target = (Targets: readonly { Arn: { 'Fn::GetAtt': [string, string] } }[]): string[] =>
    Targets.map(({ Arn }) => nameOf(Arn['Fn::GetAtt'][0]));
  const rules = resourcesOf('AWS::Events::Rule').map(
    ([, { Properties }]) =>
      Properties as {
        ScheduleExpression?: string;
        EventPattern?: unknown;
        State: string;
        Targets: Parameters<typeof target>[0];
      },
  );

  it('The schedules start the reconciler and the follow-up of payments every minute, and the audit and the second pass of erasures every quarter of an hour', () => {
    const scheduled = rules.filter(({ ScheduleExpression }) => ScheduleExpression !== undefined);
    expect(
      scheduled.map(({ ScheduleExpression, State, Targets }) => [ScheduleExpression, State, target(Targets)]),
    ).toEqual([
      ['rate(1 minute)', 'ENABLED', ['Reconcile']],
      ['rate(1 minute)', 'ENABLED', ['FollowPayments']],
      ['rate(15 minutes)', 'ENABLED', ['AuditBooks']],
      ['rate(15 minutes)', 'ENABLED', ['EraseContent']],
    ]);
  });

  it('An event rule also starts the reconciler when an execution of a creation failed, timed out or was aborted', () => {
    const onEvents = rules.filter(({ EventPattern }) => EventPattern !== undefined);
    // The schedule finds a notice whose execution was aborted.
    const machines = resourcesOf('AWS::StepFunctions::StateMachine')
      .filter(([id]) => nameOf(id) !== 'NoticesStateMachine')
      .map(([id]) => ({ Ref: id }));
    expect(machines).toHaveLength(2);
    expect(
      onEvents.map(({ EventPattern, State, Targets }) => [EventPattern, State, target(Targets)]),
    ).toEqual([
      [
        {
          source: ['aws.states'],
          'detail-type': ['Step Functions Execution Status Change'],
          detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: machines },
        },
        'ENABLED',
        ['Reconcile'],
      ],
    ]);
  });
});

describe('the outputs', () => {
  it("The outputs include those that the operator's command and a client read", () => {
    const arns = [
      'StateMachineArn',
      'CallbackMachineArn',
      'NoticeMachineArn',
      'EncryptionSecretArn',
      'PaymentSecretArn',
    ];
    for (const name of ['TableName', 'ResultsBaseUrl', ...arns])
      expect(resolved.outputs[name], name).toBeTruthy();
    expect(resolved.outputs['ApiUrl']).toMatch(/\/api\/public\/v1$/);
  });
});
