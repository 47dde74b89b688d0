import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import type { Settings } from '../../lib/settings.ts';
import { serviceOutputs } from '../stack-outputs.ts';
import { askForOne, CannotAsk, createQuotaReader, isNoSuchStack } from './ask-aws.ts';
import type { Asked, Clients, Finding, Question, StackState } from './asked.ts';
import { bedrockModels, marketplaceRights } from './questions/bedrock.ts';
import { alarmEmail, bootstrap, deploymentRights, roles, stackState } from './questions/deployment.ts';
import { apiDomain, certificates, cloudFront, dns } from './questions/domains.ts';
import {
  gateway,
  lambdaConcurrency,
  settingsForTraffic,
  stepFunctions,
  table,
  tableQuotas,
} from './questions/quotas.ts';
import type { Traffic } from './quotas/quotas.ts';

/** In the order in which the findings are printed. */
const allQuestions: readonly Question[] = [
  bootstrap,
  stackState,
  deploymentRights,
  roles,
  lambdaConcurrency,
  stepFunctions,
  tableQuotas,
  table,
  gateway,
  cloudFront,
  certificates,
  apiDomain,
  dns,
  bedrockModels,
  marketplaceRights,
  alarmEmail,
  settingsForTraffic,
];

/** The account cannot be read at all: there are no valid credentials. */
export class NoAccount extends Error {
  override readonly name = 'NoAccount';
}

export interface Preflight extends Pick<Asked, 'aliasesOf' | 'bedrockModels' | 'now' | 'withoutAlarms'> {
  readonly region: string;
  readonly settings: Settings;
  readonly stackName: string;
  readonly traffic: Traffic;
  readonly clients: Clients;
}

export interface PreflightResult {
  readonly account: string;
  readonly findings: readonly Finding[];
}

/**
 * Checks an account for everything that could stop a deployment. Only reads.
 * @param tell is called with the title of each question before it is asked
 * @returns the findings. Throws NoAccount.
 */
export async function runPreflight(
  preflight: Preflight,
  tell: (title: string) => void,
  questions: readonly Question[] = allQuestions,
): Promise<PreflightResult> {
  const { clients, stackName } = preflight;
  const identity = await identityOf(clients);
  let stack: Promise<StackState> | undefined;
  const asked: Asked = {
    ...preflight,
    ...identity,
    stack: () => (stack ??= readStack(clients.cloudFormation, stackName)),
    quotas: createQuotaReader(clients.quotas),
  };
  const findings: Finding[] = [];
  for (const question of questions) {
    tell(question.title);
    findings.push(...(await findingsOf(question, asked)));
  }
  return { account: identity.account, findings };
}

async function identityOf({ sts }: Clients): Promise<{ readonly account: string; readonly caller: string }> {
  try {
    const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
    return { account: Account, caller: Arn };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new NoAccount(
      `AWS does not know who asks (${why}). Check your AWS credentials and the region, such as with \`aws sts get-caller-identity\`.`,
      { cause: error },
    );
  }
}

async function readStack(client: CloudFormationClient, StackName: string): Promise<StackState> {
  const answer = await askForOne(
    'cloudformation:DescribeStacks',
    () => client.send(new DescribeStacksCommand({ StackName })),
    isNoSuchStack,
  );
  const [stack] = answer?.Stacks ?? [];
  return {
    status: stack?.StackStatus,
    outputs: serviceOutputs(stack?.Outputs ?? []),
  };
}

async function findingsOf(question: Question, asked: Asked): Promise<readonly Finding[]> {
  try {
    return await question.ask(asked);
  } catch (error) {
    if (!(error instanceof CannotAsk)) throw error;
    return [unasked(question.title, error)];
  }
}

function unasked(question: string, { message }: CannotAsk): Finding {
  return { question, level: 'unasked', found: `could not ask: ${message}`, wanted: 'an answer' };
}
