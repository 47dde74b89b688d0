import { RemovalPolicy } from 'aws-cdk-lib';
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge, logicalIdOf, allow } from './acknowledge.ts';
import { callbackDefinition, creationDefinition, functionsOf } from './machine-definitions.ts';
import { serviceName } from './service-scope.ts';

export interface ExecutionProps {
  /** The functions of the states. The definition names them by their construct ids. */
  readonly tasks: readonly LambdaFunction[];
  readonly logRetention: RetentionDays;
  /** Whether Step Functions sends a trace of each sampled execution to X-Ray. */
  readonly tracing: boolean;
}

interface OwnMachineProps {
  readonly text: string;
  readonly log: { readonly id: string; readonly name: string };
  readonly comment: string;
  readonly stateMachineName?: string;
}

/** Adds a state machine. Throws when its text and `tasks` do not name the same functions. */
export function addMachine(
  scope: Construct,
  id: string,
  { tasks, tracing, logRetention }: ExecutionProps,
  { text, log, ...own }: OwnMachineProps,
): StateMachine {
  const ids = tasks.map(({ node }) => node.id);
  const file = 'statemachines/creation.asl.json';
  const missing = functionsOf(text).find((name) => !ids.includes(name));
  if (missing !== undefined)
    throw new Error(`${file} names ${missing}, and lib/execution-functions.ts has no such function.`);
  const unused = ids.find((name) => !functionsOf(text).includes(name));
  if (unused !== undefined) throw new Error(`No state of ${file} invokes the function ${unused}.`);
  // Every log group under /aws/vendedlogs/ shares one entry of the account's resource policy of CloudWatch Logs.
  // The policy takes 5,120 characters, and Step Functions refuses a machine when it is full.
  const destination = new LogGroup(scope, log.id, {
    logGroupName: `/aws/vendedlogs/states/${serviceName(scope)}-${log.name}`,
    retention: logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const machine = new StateMachine(scope, id, {
    ...own,
    definitionBody: DefinitionBody.fromString(text),
    definitionSubstitutions: Object.fromEntries(
      tasks.map((fn) => [`${fn.node.id}Arn`, fn.currentVersion.functionArn]),
    ),
    ...(tracing && { tracingEnabled: true }),
    logs: { destination, level: LogLevel.ERROR, includeExecutionData: false },
  });
  // A running execution keeps the definition with which it began, and the role of the state machine is the
  // role of today. So the role may invoke every version that an older definition names. A release before the
  // versions named the functions themselves.
  const resources = tasks.flatMap((fn) => fn.resourceArnsForGrantInvoke);
  allow(machine, ['lambda:InvokeFunction'], resources);
  for (const fn of tasks)
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
      'Every line of the log and every execution carries the id of its creation or notice, which leads from one to the other without traces (decision 23). The setting tracing switches traces on.',
  });
  return machine;
}

/**
 * The two state machines. Each creation is one execution of one of them: of the callback machine when its
 * vendor can call back, and of the plain machine otherwise.
 */
export class CreationExecution extends Construct {
  readonly stateMachine: StateMachine;
  readonly callbackMachine: StateMachine;

  constructor(scope: Construct, id: string, props: ExecutionProps) {
    super(scope, id);
    const plain = creationDefinition();
    this.stateMachine = addMachine(this, 'StateMachine', props, {
      text: plain,
      log: { id: 'Log', name: 'creations' },
      comment: 'Darkroom: one execution a creation',
    });
    this.callbackMachine = addMachine(this, 'CallbackMachine', props, {
      text: callbackDefinition(plain),
      log: { id: 'CallbackLog', name: 'callbacks' },
      comment: 'Darkroom: one execution a creation whose vendor can call back',
    });
  }

  /** Both machines. */
  get all(): readonly StateMachine[] {
    return [this.stateMachine, this.callbackMachine];
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
