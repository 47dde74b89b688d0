import { RemovalPolicy } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  type ILambdaDeploymentConfig,
} from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

export interface TrafficShiftProps {
  /** How requests move from the release before to a new one. */
  readonly traffic: Exclude<Settings['apiTraffic'], 'all-at-once'>;
}

const configs: Readonly<Record<TrafficShiftProps['traffic'], ILambdaDeploymentConfig>> = {
  'canary-10-percent-5-minutes': LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  'linear-10-percent-every-1-minute': LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
};

/**
 * Moves requests step by step from the API functions of the release before to those of a new release. An
 * alarm in the meantime ends the deployment, and CloudFormation goes back to the release before.
 */
export class TrafficShift extends Construct {
  private readonly config: ILambdaDeploymentConfig;
  private readonly aliases = new Map<string, Alias>();

  constructor(scope: Construct, id: string, { traffic }: TrafficShiftProps) {
    super(scope, id);
    this.config = configs[traffic];
  }

  /** The alias that gets the requests of the function. */
  aliasOf(fn: ServiceFunction): Alias {
    // Operations may share a function.
    const known = this.aliases.get(fn.node.id);
    if (known) return known;
    const alias = new Alias(this, `${fn.node.id}Live`, {
      aliasName: 'live',
      version: fn.currentVersion as IVersion,
    });
    this.aliases.set(fn.node.id, alias);
    return alias;
  }

  /** The alarms that end a deployment. CodeDeploy takes ten at most. */
  stopAt(alarms: readonly IAlarm[]): void {
    const application = new LambdaApplication(this, 'Application');
    application.applyRemovalPolicy(RemovalPolicy.DESTROY);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited'),
      ],
    });
    acknowledge(role, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
        'CodeDeploy documents this policy for its role. Only CodeDeploy can assume the role.',
    });
    for (const [id, alias] of this.aliases)
      new LambdaDeploymentGroup(this, `${id}Group`, {
        application,
        alias,
        role,
        deploymentConfig: this.config,
        alarms: [...alarms],
      });
  }
}
