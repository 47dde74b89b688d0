import {
  GetFoundationModelAvailabilityCommand,
  type GetFoundationModelAvailabilityCommandOutput,
} from '@aws-sdk/client-bedrock';
import { GetRoleCommand, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { askAws, askForOne, named } from '../ask-aws.ts';
import type { Asked, Finding, Question } from '../asked.ts';

/** Whether the account may invoke the models of Amazon Bedrock that the catalog sells. */
export const bedrockModels: Question = {
  title: 'Bedrock: models',
  async ask({ bedrockModels: models, settings: { bedrockRegion }, clients: { bedrock } }) {
    return Promise.all(
      models.map(async (modelId): Promise<Finding> => {
        const found = await askForOne(
          'bedrock:GetFoundationModelAvailability',
          () => bedrock.send(new GetFoundationModelAvailabilityCommand({ modelId })),
          named('ResourceNotFoundException', 'ValidationException'),
        );
        return findingOf(modelId, bedrockRegion, found);
      }),
    );
  },
};

function findingOf(
  modelId: string,
  region: string,
  answer: GetFoundationModelAvailabilityCommandOutput | undefined,
): Finding {
  const base = { question: `Bedrock: ${modelId}`, wanted: `available in ${region}` };
  const limits = (found: string, fix: string): Finding => ({ ...base, level: 'limits', found, fix });
  if (answer?.regionAvailability !== 'AVAILABLE')
    return limits(`not in ${region}`, "bedrockRegion: 'us-west-2', or block the provider (`blocks add`)");
  if (answer.authorizationStatus !== 'AUTHORIZED')
    return limits('the account is not authorized', 'ask AWS Support why Bedrock is closed to this account');
  if (answer.agreementAvailability?.status !== 'AVAILABLE' || answer.entitlementAvailability !== 'AVAILABLE')
    return limits(
      `no agreement with its vendor (${answer.agreementAvailability?.status ?? 'unknown'})`,
      'render once with the model in the playground of the Bedrock console, as somebody who has aws-marketplace:Subscribe and aws-marketplace:ViewSubscriptions',
    );
  return { ...base, level: 'ok', found: 'available' };
}

const marketplace = ['aws-marketplace:Subscribe', 'aws-marketplace:ViewSubscriptions'];

/**
 * Models of other vendors come from AWS Marketplace. The first activation of a model needs these rights,
 * once.
 */
export const marketplaceRights: Question = {
  title: 'Bedrock: your rights at AWS Marketplace',
  async ask(asked) {
    const base = { question: this.title, wanted: marketplace.join(' and ') };
    const principal = await principalOf(asked);
    if (principal === undefined)
      return [{ ...base, level: 'ok', found: 'you are the root user, who may do both' }];
    const { EvaluationResults = [] } = await askAws('iam:SimulatePrincipalPolicy', () =>
      asked.clients.iam.send(
        new SimulatePrincipalPolicyCommand({ PolicySourceArn: principal, ActionNames: marketplace }),
      ),
    );
    const missing = EvaluationResults.filter(({ EvalDecision }) => EvalDecision !== 'allowed').map(
      ({ EvalActionName = '' }) => EvalActionName,
    );
    if (missing.length === 0) return [{ ...base, level: 'ok', found: 'both' }];
    return [
      {
        ...base,
        level: 'note',
        found: `you lack ${missing.join(' and ')}`,
        fix: 'needed once for each model of Bedrock: let somebody with these rights render with it first',
      },
    ];
  },
};

/** The user or role of the caller, as IAM names it. Undefined: the root user. Throws CannotAsk. */
async function principalOf({ caller, clients: { iam } }: Asked): Promise<string | undefined> {
  if (caller.endsWith(':root')) return undefined;
  // arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION leaves out the path of the role.
  const role = /:assumed-role\/([^/]+)\//.exec(caller)?.[1];
  if (role === undefined) return caller;
  const { Role } = await askAws('iam:GetRole', () => iam.send(new GetRoleCommand({ RoleName: role })));
  return Role?.Arn ?? caller;
}
