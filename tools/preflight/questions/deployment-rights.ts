import { paginateSimulatePrincipalPolicy, type EvaluationResult } from '@aws-sdk/client-iam';
import { askForOne, named } from '../ask-aws.ts';
import type { Finding, Question } from '../finding.ts';

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
const otherActions = ['iam:PassRole', 'iam:CreateServiceLinkedRole', 'lambda:PutFunctionConcurrency'];

/** Asks whether the role by which CloudFormation deploys may make the stack's resources. */
export const deploymentRights: Question = {
  title: 'Rights of the deployment',
  async ask({ account, region, caller, clients: { iam } }) {
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
            ActionNames: [...new Set([...Object.values(creatingActions), ...otherActions])],
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
