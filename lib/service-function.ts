import { RemovalPolicy, type Duration } from 'aws-cdk-lib';
import type { CfnRole } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  type CfnFunction,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { bundle } from './bundling/bundle.ts';
import type { Settings } from './settings.ts';

export interface ServiceFunctionProps {
  /** In functions/, without its ending: "operations/get-creation". */
  readonly entry: string;
  /** What an operator reads in the console. */
  readonly description: string;
  readonly timeout: Duration;
  /** Also decides the share of a processor: 1,769 MB is one. */
  readonly memoryMegabytes: number;
  readonly architecture: Settings['architecture'];
  readonly logRetention: RetentionDays;
  /** Whether Bedrock's client is in it, which imports the SDK's event streams in any case. */
  readonly holdsEventStreams?: boolean;
}

/** A Lambda function of the service: one file of functions/, bundled, with a log of its own. */
export class ServiceFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    super(scope, id, {
      code: bundle(props.entry, props.holdsEventStreams ?? false),
      handler: 'index.handler',
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: props.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      timeout: props.timeout,
      memorySize: props.memoryMegabytes,
      // Its own lines are JSON; the runtime's are not worth wrapping them again.
      loggingFormat: LoggingFormat.TEXT,
      logGroup,
    });
    this.leaveOnlyOwnLog(logGroup);
    // `sam local invoke` finds a function by this name.
    (this.node.defaultChild as CfnFunction).addMetadata('SamResourceId', id);
  }

  /** AWS's managed policy, which a function gets by default, lets it write to every log of the account. */
  private leaveOnlyOwnLog(logGroup: LogGroup): void {
    (this.role?.node.defaultChild as CfnRole).managedPolicyArns = [];
    logGroup.grantWrite(this);
  }
}
