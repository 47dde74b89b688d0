import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { askForOne } from '../ask-aws.ts';
import type { Question } from '../finding.ts';
import { isNoSuchStack } from '../no-such-stack.ts';

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
      {
        question: this.title,
        level: enough ? 'ok' : 'stops',
        found: answer ? `version ${version ?? 'unknown'}` : `no stack ${toolkit}`,
        wanted: `version ${leastBootstrapVersion} or newer`,
        ...(!enough && { fix: `npx cdk bootstrap aws://${account}/${region}` }),
      },
    ];
  },
};
