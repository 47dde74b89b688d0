import { RemovalPolicy } from 'aws-cdk-lib';
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge, logicalIdOf, allow } from './acknowledge.ts';
import { callbackDefinition, creationDefinition } from './machine-definitions.ts';
import { serviceName } from './service-scope.ts';

/**
 * The log of a state machine. Every log group under /aws/vendedlogs/ shares one entry of the account's resource policy
 * of CloudWatch Logs. The policy takes 5,120 characters, and Step Functions refuses a machine when it is full.
 */
export function executionLog(scope: Construct, id: string, name: string, retention: RetentionDays): LogGroup {
  return new LogGroup(scope, id, {
    logGroupName: `/aws/vendedlogs/states/${serviceName(scope)}-${name}`,
    retention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

/** The functions of the states, by the names of the states. Each renderer has the pictures of its kind. */
type Task = 'RenderImage' | 'RenderImageSmall' | 'RenderImageLarge' | 'RefundCharge' | 'DeliverWebhook';

export interface CreationExecutionProps {
  readonly tasks: Readonly<Record<Task, LambdaFunction>>;
  readonly logRetention: RetentionDays;
  /** Whether Step Functions sends a trace of each sampled execution to X-Ray. */
  readonly tracing: boolean;
}

/**
 * The two state machines. Each creation is one execution of one of them: of the callback machine when its
 * vendor can call back, and of the plain machine otherwise.
 */
export class CreationExecution extends Construct {
  readonly stateMachine: StateMachine;
  readonly callbackMachine: StateMachine;

  constructor(scope: Construct, id: string, props: CreationExecutionProps) {
    super(scope, id);
    const plain = creationDefinition();
    this.stateMachine = this.addMachine(
      'StateMachine',
      { id: 'Log', name: 'creations' },
      plain,
      props,
      'Darkroom: one execution a creation',
    );
    this.callbackMachine = this.addMachine(
      'CallbackMachine',
      { id: 'CallbackLog', name: 'callbacks' },
      callbackDefinition(plain),
      props,
      'Darkroom: one execution a creation whose vendor can call back',
    );
  }

  /** Both machines. */
  get all(): readonly StateMachine[] {
    return [this.stateMachine, this.callbackMachine];
  }

  private addMachine(
    id: string,
    log: { readonly id: string; readonly name: string },
    text: string,
    { tasks, tracing, logRetention }: CreationExecutionProps,
    comment: string,
  ): StateMachine {
    const machine = new StateMachine(this, id, {
      definitionBody: DefinitionBody.fromString(text),
      definitionSubstitutions: Object.fromEntries(
        Object.entries(tasks).map(([name, fn]) => [`${name}Arn`, fn.currentVersion.functionArn]),
      ),
      comment,
      ...(tracing && { tracingEnabled: true }),
      logs: {
        destination: executionLog(this, log.id, log.name, logRetention),
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    // A running execution keeps the definition with which it began, and the role of the state machine is the
    // role of today. So the role may invoke every version that an older definition names. A release before the
    // versions named the functions themselves.
    const resources = Object.values(tasks).flatMap((fn) => fn.resourceArnsForGrantInvoke);
    allow(machine, ['lambda:InvokeFunction'], resources);
    for (const fn of Object.values(tasks))
      acknowledge(machine, {
        [`AwsSolutions-IAM5[Resource::<${logicalIdOf(fn)}.Arn>:*]`]:
          'Running executions invoke the versions of the releases with which they began. A template cannot name these versions (decision 22).',
      });
    acknowledge(machine, {
      'AwsSolutions-IAM5[Resource::*]':
        'The actions that deliver a log to CloudWatch know no resource (Step Functions developer guide, Logging).',
      'AwsSolutions-SF1':
        'Step Functions keeps every history for 90 days by itself; logging each event once more would cost more than the executions.',
      'AwsSolutions-SF2':
        'Every line of the log and every execution carries the id of its creation, which leads from one to the other without traces (decision 23). The setting tracing switches traces on.',
    });
    return machine;
  }

  /** Lets a function start executions. */
  grantStart(fn: LambdaFunction): void {
    fn.addEnvironment('STATE_MACHINE_ARN', this.stateMachine.stateMachineArn);
    fn.addEnvironment('CALLBACK_MACHINE_ARN', this.callbackMachine.stateMachineArn);
    for (const machine of this.all) machine.grantStartExecution(fn);
  }

  /**
   * Lets a function end tasks of the callback machine, or keep them alive. The policy is not the role's default policy: a function
   * depends on that policy, and the machine depends on the function.
   */
  grantEndTasks(
    fn: LambdaFunction,
    ...operations: ('SendTaskSuccess' | 'SendTaskFailure' | 'SendTaskHeartbeat')[]
  ): void {
    const { role } = fn;
    if (!role) throw new Error(`${fn.node.id} has no role`);
    new Policy(this, `${fn.node.id}EndsTasks`, {
      roles: [role],
      statements: [
        new PolicyStatement({
          actions: operations.map((operation) => `states:${operation}`),
          resources: [this.callbackMachine.stateMachineArn],
        }),
      ],
    });
  }

  /** Lets a function ask for the state of an execution. */
  grantDescribe(fn: LambdaFunction): void {
    for (const machine of this.all) {
      machine.grantExecution(fn, 'states:DescribeExecution');
      const executions = `arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"${logicalIdOf(machine)}"}]}]}:*`;
      acknowledge(fn, {
        [`AwsSolutions-IAM5[Resource::${executions}]`]:
          'Executions are named after their creations, which are not known before.',
      });
    }
  }
}
