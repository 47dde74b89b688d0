/** What a deployment needs: rights, roles, a bootstrapped account, the state of the stack, and the e-mail of alarms. */
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import {
  type EvaluationResult,
  GetAccountSummaryCommand,
  paginateSimulatePrincipalPolicy,
} from '@aws-sdk/client-iam';
import { paginateListSubscriptionsByTopic, type SNSClient, type Subscription } from '@aws-sdk/client-sns';
import { askAws, askForOne, isNoSuchStack, named } from '../ask-aws.ts';
import { type Finding, type Question, judged } from '../asked.ts';

/** What creates the resources of each service in the stack. A test compares the services with the template. */
export const creatingActions: Readonly<Record<string, string>> = {
  'AWS::ApiGateway': 'apigateway:POST',
  'AWS::ApiGatewayV2': 'apigateway:POST',
  'AWS::CloudFront': 'cloudfront:CreateDistribution',
  'AWS::CloudWatch': 'cloudwatch:PutMetricAlarm',
  'AWS::CodeDeploy': 'codedeploy:CreateApplication',
  'AWS::Cognito': 'cognito-idp:CreateUserPool',
  'AWS::DynamoDB': 'dynamodb:CreateTable',
  'AWS::Events': 'events:PutRule',
  'AWS::IAM': 'iam:CreateRole',
  'AWS::Lambda': 'lambda:CreateFunction',
  'AWS::Logs': 'logs:CreateLogGroup',
  'AWS::S3': 's3:CreateBucket',
  'AWS::SNS': 'sns:CreateTopic',
  'AWS::SecretsManager': 'secretsmanager:CreateSecret',
  'AWS::StepFunctions': 'states:CreateStateMachine',
};

/** What a deployment needs besides. A custom domain of API Gateway makes a service-linked role. */
const otherActions = [
  'iam:PassRole',
  'iam:CreateServiceLinkedRole',
  'lambda:PutFunctionConcurrency',
  'logs:PutQueryDefinition',
];

/** Asks whether the role by which CloudFormation deploys may make the stack's resources. */
export const deploymentRights: Question = {
  title: 'Rights of the deployment',
  async ask({ account, region, caller, settings, clients: { iam } }) {
    const ofSettings = settings.budget ? ['budgets:ModifyBudget'] : [];
    // arn:PARTITION:iam::ACCOUNT:user/NAME
    const [, partition = 'aws'] = caller.split(':');
    const role = `cdk-hnb659fds-cfn-exec-role-${account}-${region}`;
    const results = await askForOne(
      'iam:SimulatePrincipalPolicy',
      async () => {
        const all: EvaluationResult[] = [];
        const pages = paginateSimulatePrincipalPolicy(
          { client: iam },
          {
            PolicySourceArn: `arn:${partition}:iam::${account}:role/${role}`,
            ActionNames: [...new Set([...Object.values(creatingActions), ...otherActions, ...ofSettings])],
          },
        );
        for await (const { EvaluationResults } of pages) all.push(...(EvaluationResults ?? []));
        return all;
      },
      named('NoSuchEntityException', 'NoSuchEntity'),
    );
    return [results ? findingOf(this.title, role, results) : noRole(this.title, role)];
  },
};

function noRole(question: string, role: string): Finding {
  return {
    question,
    level: 'note',
    found: `no role ${role}`,
    wanted: 'the role by which CloudFormation deploys',
    fix: 'npx cdk bootstrap makes it. With a qualifier of your own, look at your role yourself',
  };
}

function findingOf(question: string, role: string, results: readonly EvaluationResult[]): Finding {
  const wanted = 'all actions that make the resources of the stack';
  const forbidden = actionsIn(
    results.filter(
      ({ EvalDecision, OrganizationsDecisionDetail }) =>
        EvalDecision === 'explicitDeny' || OrganizationsDecisionDetail?.AllowedByOrganizations === false,
    ),
  );
  if (forbidden.length > 0)
    return {
      question,
      level: 'stops',
      found: `forbidden: ${forbidden.join(', ')}`,
      wanted,
      fix: 'a policy of the role or of your organization denies them: ask who administers it',
    };
  // A role may have the action for some names only. The simulation asks for every name.
  const missing = actionsIn(results.filter(({ EvalDecision }) => EvalDecision !== 'allowed'));
  if (missing.length > 0)
    return {
      question,
      level: 'limits',
      found: `not allowed for every resource: ${missing.join(', ')}`,
      wanted,
      fix: `look at the policies of ${role}, or bootstrap with --cloudformation-execution-policies`,
    };
  return { question, level: 'ok', found: 'all actions allowed', wanted };
}

const actionsIn = (results: readonly EvaluationResult[]): string[] =>
  results.map(({ EvalActionName = '' }) => EvalActionName);

/** Every function and state machine has a role of its own. A test compares the number with the template. */
export const rolesOfTheStack = 60;

export const roles: Question = {
  title: 'IAM: room for roles',
  async ask({ stack, clients: { iam } }) {
    const { status } = await stack();
    const { SummaryMap = {} } = await askAws('iam:GetAccountSummary', () =>
      iam.send(new GetAccountSummaryCommand({})),
    );
    const room = (SummaryMap['RolesQuota'] ?? 0) - (SummaryMap['Roles'] ?? 0);
    // The roles of a stack that exists are counted already.
    const enough = room >= rolesOfTheStack || status !== undefined;
    return [
      judged(this.title, enough, 'stops', {
        found: `room for ${room}`,
        wanted: `${rolesOfTheStack} for a new stack`,
        fix: 'delete roles, or raise the quota "Roles per account" of IAM',
      }),
    ];
  },
};

/** The version of the bootstrap stack that the template of this stack demands. A test compares them. */
export const leastBootstrapVersion = 6;

/** The stack that `cdk bootstrap` makes, by its usual name. */
const toolkit = 'CDKToolkit';

export const bootstrap: Question = {
  title: 'CDK bootstrap',
  async ask({ account, region, clients: { cloudFormation } }) {
    const answer = await askForOne(
      'cloudformation:DescribeStacks',
      () => cloudFormation.send(new DescribeStacksCommand({ StackName: toolkit })),
      isNoSuchStack,
    );
    const outputs = answer?.Stacks?.[0]?.Outputs ?? [];
    const version = outputs.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue;
    const enough = Number(version ?? 0) >= leastBootstrapVersion;
    return [
      judged(this.title, enough, 'stops', {
        found: answer ? `version ${version ?? 'unknown'}` : `no stack ${toolkit}`,
        wanted: `version ${leastBootstrapVersion} or newer`,
        fix: `npx cdk bootstrap aws://${account}/${region}`,
      }),
    ];
  },
};

/** The states of a stack that CloudFormation updates. */
const updatable = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
  // A change set that was made, and not run.
  'REVIEW_IN_PROGRESS',
]);

export const stackState: Question = {
  title: 'Stack',
  async ask({ stackName, stack }) {
    const { status } = await stack();
    const can = status === undefined || updatable.has(status);
    const finding = judged(this.title, can, 'stops', {
      found: status === undefined ? `no stack ${stackName} yet` : `${stackName} is ${status}`,
      wanted: 'none, or one that can be updated',
      fix: fixOf(status ?? '', stackName),
    });
    return [finding];
  },
};

function fixOf(status: string, stackName: string): string {
  if (status.endsWith('_IN_PROGRESS')) return 'wait until CloudFormation has ended';
  if (status === 'UPDATE_ROLLBACK_FAILED')
    return `aws cloudformation continue-update-rollback --stack-name ${stackName}`;
  // A stack whose creation failed can only be deleted, and the first deployment has protected it already.
  // docs/deploying.md says what stays.
  return `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stackName}, then delete-stack, and see docs/deploying.md for what stays`;
}

/** Whether the alarms reach an address. An operator who wants none says so by an option. */
export const alarmEmail: Question = {
  title: 'E-mail of alarms',
  async ask({ settings, stack, withoutAlarms, clients: { sns } }) {
    const email = settings.alarmEmail;
    const base = { question: this.title, wanted: 'a confirmed address' };
    const nobody = (found: string, fix: string): Finding[] => [
      {
        ...base,
        level: withoutAlarms ? 'limits' : 'stops',
        found: `${found}: nobody gets the alarms`,
        fix: withoutAlarms ? fix : `${fix}; or go on with --without-alarms`,
      },
    ];
    const TopicArn = (await stack()).outputs.get('AlarmTopicArn');
    const subscriptions = TopicArn === undefined ? [] : await subscriptionsOf(TopicArn, sns);
    const confirmed = subscriptions.filter(isConfirmed);
    const own = subscriptions.find(({ Endpoint }) => Endpoint === email);
    if (email === undefined)
      return confirmed.length === 0
        ? nobody('no address', "alarmEmail: 'you@example.com' in the settings")
        : [{ ...base, level: 'ok', found: `${confirmed.length} confirmed, beside the settings` }];
    if (TopicArn === undefined)
      return [
        {
          ...base,
          level: 'note',
          found: `${email}, not subscribed before the first deployment`,
          fix: 'confirm by the link of the e-mail that AWS sends during the deployment, and run this again',
        },
      ];
    if (own && isConfirmed(own)) return [{ ...base, level: 'ok', found: `${email} is confirmed` }];
    // The deployment subscribes the address, so this finding does not stop it.
    if (!own) return [{ ...base, level: 'limits', found: `${email} is not subscribed`, fix: 'deploy again' }];
    const fix = 'use the link in the e-mail of AWS; deploy again after three days';
    return confirmed.length === 0
      ? nobody(`${email} is not confirmed`, fix)
      : [{ ...base, level: 'limits', found: `${email} is not confirmed`, fix }];
  },
};

async function subscriptionsOf(TopicArn: string, client: SNSClient): Promise<readonly Subscription[]> {
  return askAws('sns:ListSubscriptionsByTopic', async () => {
    const all: Subscription[] = [];
    for await (const page of paginateListSubscriptionsByTopic({ client }, { TopicArn }))
      all.push(...(page.Subscriptions ?? []));
    return all;
  });
}

/** SNS writes a word instead of the ARN of an unconfirmed subscription. */
function isConfirmed({ SubscriptionArn = '' }: Subscription): boolean {
  return SubscriptionArn.startsWith('arn:');
}
