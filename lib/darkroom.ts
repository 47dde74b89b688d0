/** The export `darkroom/cdk` of the package: the service as a construct for a stack of others. */
import { ArnFormat, CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import { type ITableV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { CURRENT_VERSION_EXPIRED_FLAGS, CURRENT_VERSION_FLAG_DEFAULTS, FLAGS } from 'aws-cdk-lib/cx-api';
import { Construct } from 'constructs';
import cdk from '../cdk.json' with { type: 'json' };
import { Service } from './service.ts';
import { embed } from './service-scope.ts';
import { parseSettings, type SettingsInput } from './settings.ts';

/**
 * The whole service: APIs, portal, functions, table, buckets, state machines and alarms. A stack has room for one. Its
 * outputs begin with "Darkroom", and `darkroom admin --stack STACK` finds the service by them.
 */
export class Darkroom extends Construct {
  /** The root of the API for clients: https://HOST/v1 */
  readonly apiUrl: string;
  /** The base URL for libraries of the OpenAI API. */
  readonly openaiUrl: string;
  /** The address for agents that speak MCP. */
  readonly mcpUrl: string;
  /** The portal: https://HOST/ */
  readonly portalUrl: string;
  /** The one table. It outlives the stack. Its items are no interface: read them through the API. */
  readonly table: ITableV2;
  /** Every alarm notifies this topic when it begins and when it ends. */
  readonly alarmTopic: ITopic;
  /** The functions by their names in the documentation, such as "GenerateImage". */
  readonly functions: Readonly<Record<string, LambdaFunction>>;

  /**
   * @param settings the settings of docs/deploying.md that differ from their defaults. Wrong ones throw an error with
   *   a line for each.
   */
  constructor(scope: Construct, id: string, settings: SettingsInput = {}) {
    super(scope, id);
    refuseSecond(this);
    keepFlags(this);
    embed(this);
    const parsed = parseSettings(this.node.path, settings);
    // The package brings the bundle with the pages in it.
    const service = new Service(this, { settings: parsed, pages: '' });
    this.apiUrl = service.apiUrl;
    this.openaiUrl = service.openaiUrl;
    this.mcpUrl = service.mcpUrl;
    this.portalUrl = service.portalUrl;
    this.table =
      parsed.restoredTable === undefined
        ? // Under exactOptionalPropertyTypes the class of the CDK does not fit the CDK's own interface.
          (service.store.ownTable as ITableV2)
        : TableV2.fromTableName(this, 'RestoredTable', parsed.restoredTable);
    this.alarmTopic = service.alarmTopic;
    this.functions = Object.fromEntries(service.functions);
  }

  /** Lets a role run every command of `darkroom admin --stack STACK`. */
  grantAdmin(role: IGrantable): void {
    const stack = Stack.of(this);
    const allow = (actions: string, ...resources: string[]): void => {
      const statement = new PolicyStatement({ actions: actions.split(' '), resources });
      if (resources.length > 0) role.grantPrincipal.addToPrincipalPolicy(statement);
    };
    const versioned = this.outputs(/^VersionedFunctions$/).flatMap((names) => names.split(','));
    const machines = this.outputs(/MachineArn$/);
    const executions = machines.map((arn) =>
      stack.formatArn({
        service: 'states',
        resource: 'execution',
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        resourceName: `${Fn.select(6, Fn.split(':', arn))}:*`,
      }),
    );
    allow('cloudformation:DescribeStacks', stack.stackId);
    allow(tableActions, this.table.tableArn, `${this.table.tableArn}/index/*`);
    allow(secretActions, ...this.outputs(/SecretArn$/));
    allow(machineActions, ...machines);
    allow(executionActions, ...executions);
    allow(
      'cognito-idp:AdminCreateUser',
      ...this.outputs(/^UserPoolId$/).map((resourceName) =>
        stack.formatArn({ service: 'cognito-idp', resource: 'userpool', resourceName }),
      ),
    );
    allow(
      versionActions,
      ...versioned.flatMap((resourceName) => {
        const { COLON_RESOURCE_NAME: arnFormat } = ArnFormat;
        const arn = stack.formatArn({ service: 'lambda', resource: 'function', arnFormat, resourceName });
        return [arn, `${arn}:*`];
      }),
    );
  }

  /** The values of the outputs with these names: the operator's command knows the service by nothing else. */
  private outputs(name: RegExp): string[] {
    return this.node.children.flatMap((child) =>
      child instanceof CfnOutput && name.test(child.node.id) ? [String(child.value)] : [],
    );
  }
}

// What the operator's command asks of AWS (admin/services.ts).
const tableActions =
  'dynamodb:BatchGetItem dynamodb:BatchWriteItem dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem';
const secretActions =
  'secretsmanager:DescribeSecret secretsmanager:GetSecretValue secretsmanager:PutSecretValue';
const machineActions = 'states:DescribeStateMachine states:ListExecutions states:StartExecution';
const executionActions = 'states:DescribeExecution states:DescribeStateMachineForExecution';
const versionActions = 'lambda:DeleteFunction lambda:ListAliases lambda:ListVersionsByFunction';

function refuseSecond(darkroom: Darkroom): void {
  const stack = Stack.of(darkroom);
  const other = stack.node
    .findAll()
    .find((each) => each !== darkroom && each instanceof Darkroom && Stack.of(each) === stack);
  if (other)
    throw new Error(
      `The stack ${stack.node.path} holds ${other.node.path} already, and a second Darkroom would pass the 500 resources that CloudFormation takes: put ${darkroom.node.path} into a stack of its own.`,
    );
}

/**
 * The flags of a foreign app would change the template. A policy for each statement, for example, passes the number of
 * resources. So the construct has the flags of cdk.json, and the CDK's defaults for all others.
 */
function keepFlags({ node }: Darkroom): void {
  const own: Readonly<Record<string, boolean>> = cdk.context;
  for (const flag of Object.keys(FLAGS)) {
    const isChanged = typeof node.tryGetContext(flag) === 'boolean';
    const value: unknown =
      own[flag] ?? (isChanged ? (CURRENT_VERSION_FLAG_DEFAULTS[flag] ?? false) : undefined);
    if (value !== undefined && !CURRENT_VERSION_EXPIRED_FLAGS.includes(flag)) node.setContext(flag, value);
  }
}
