import { paginateListDistributions, type DistributionSummary } from '@aws-sdk/client-cloudfront';
import { askAws } from '../ask-aws.ts';
import type { Asked } from '../asked.ts';
import type { Finding, Question } from '../finding.ts';

/** Whether AWS lets this account make distributions, and whether the names of the settings are free. */
export const cloudFront: Question = {
  title: 'CloudFront: verified account',
  async ask(asked) {
    const distributions = await askAws('cloudfront:ListDistributions', async () => {
      const all: DistributionSummary[] = [];
      for await (const { DistributionList } of paginateListDistributions(
        { client: asked.clients.cloudFront },
        {},
      ))
        all.push(...(DistributionList?.Items ?? []));
      return all;
    });
    return [verified(this.title, distributions.length), ...(await freeNames(asked, distributions))];
  },
};

/** AWS does not say whether an account is verified. Only a verified account has a distribution. */
function verified(question: string, distributions: number): Finding {
  if (distributions > 0)
    return { question, level: 'ok', found: `distributions: ${distributions}`, wanted: 'one proves it' };
  return {
    question,
    level: 'note',
    found: 'no distribution yet, so nobody can tell',
    wanted: 'a verified account',
    fix: 'if the deployment ends with "Your account must be verified before you can add new CloudFront resources", open a case with AWS Support (account and billing, free), and deploy again',
  };
}

/** The names that the settings give to the distributions of the stack. */
async function freeNames(
  { settings, stack }: Asked,
  distributions: readonly DistributionSummary[],
): Promise<Finding[]> {
  const names = [settings.resultsDomain?.name, settings.portal.domain?.name].filter(
    (name) => name !== undefined,
  );
  if (names.length === 0) return [];
  const { outputs } = await stack();
  const own = [outputs.get('ResultsDomainTarget'), outputs.get('PortalDomainTarget')];
  return names.map((name): Finding => {
    const taken = distributions.find(
      ({ Aliases, DomainName }) => Aliases?.Items?.includes(name) && !own.includes(DomainName),
    );
    return {
      question: `CloudFront: the name ${name}`,
      level: taken ? 'stops' : 'ok',
      found: taken
        ? `belongs to the distribution ${taken.Id ?? ''}`
        : 'no other distribution of the account has it',
      wanted: 'free',
      ...(taken && { fix: 'remove the name from that distribution, or choose another one' }),
    };
  });
}
