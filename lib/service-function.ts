import { Aws, type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { CfnRole } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge, tracesKnowNoResource } from './acknowledge.ts';
import { bundle, type BundledFolder } from './bundling/bundle.ts';
import type { Settings } from './settings.ts';

export interface ServiceFunctionProps {
  /** The path in functions/ without `.ts`: "get-creation". */
  readonly entry: string;
  /** The description that an operator reads in the console. */
  readonly description: string;
  readonly timeout: Duration;
  /** The memory also decides the share of a processor: 1,769 MB is one whole processor. */
  readonly memoryMegabytes: number;
  readonly architecture: Settings['architecture'];
  /** Whether Lambda sends a trace of each sampled invocation to X-Ray. */
  readonly tracing: boolean;
  readonly logRetention: RetentionDays;
  /** A folder whose files are in the bundle, under this name. */
  readonly folder?: BundledFolder;
  /** How many invocations run at once, which no other function can take. Absent: as many as the account allows. */
  readonly reservedConcurrency?: number | undefined;
}

/** What is particular to a function. The stack has values for the rest. */
export type OwnFunctionProps = Pick<ServiceFunctionProps, 'description' | 'folder' | 'reservedConcurrency'> &
  Partial<Pick<ServiceFunctionProps, 'timeout' | 'memoryMegabytes'>>;

/** Adds the function of one entry in functions/ to the stack. */
export type AddFunction = (id: string, entry: string, own: OwnFunctionProps) => ServiceFunction;

/** A Lambda function of the service: the bundle of one file of functions/, and its own log group. */
export class ServiceFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    super(scope, id, {
      code: bundle({ id, ...props }),
      handler: 'index.handler',
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: props.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      timeout: props.timeout,
      memorySize: props.memoryMegabytes,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
      // The service writes JSON lines itself. The format JSON would wrap each of them again.
      loggingFormat: LoggingFormat.TEXT,
      ...(props.tracing && { tracing: Tracing.ACTIVE }),
      logGroup,
      // Running executions invoke the version of an earlier release, so an update keeps it. When a deployment
      // is rolled back, its version goes: Lambda publishes no second version of the same code, and the next
      // deployment of the same release would fail.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    // The domain of AWS, which depends on the partition.
    this.addEnvironment('URL_SUFFIX', Aws.URL_SUFFIX);
    this.leaveOnlyOwnLog(logGroup);
    if (props.tracing) acknowledge(this, tracesKnowNoResource);
    // `sam local invoke` finds the function by this name.
    (this.node.defaultChild as CfnFunction).addMetadata('SamResourceId', id);
  }

  /** Whether a release publishes a version of the function: something in the stack names the version. */
  hasVersions(): boolean {
    return this.node.tryFindChild('CurrentVersion') !== undefined;
  }

  /** Removes the managed policy that the CDK adds by default: it allows writes to every log of the account. */
  private leaveOnlyOwnLog(logGroup: LogGroup): void {
    const role = this.role?.node.defaultChild;
    if (!(role instanceof CfnRole)) throw new Error('the function has no role of its own');
    role.managedPolicyArns = [];
    logGroup.grantWrite(this);
  }
}
