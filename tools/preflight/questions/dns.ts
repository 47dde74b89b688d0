import { CannotAsk } from '../ask-aws.ts';
import type { Asked } from '../asked.ts';
import type { Finding, Question } from '../finding.ts';

/** Where DNS sends the host names of the settings. */
export const dns: Question = {
  title: 'DNS',
  async ask(asked) {
    const { apiDomain, resultsDomain, portal } = asked.settings;
    const names = [
      { name: apiDomain?.name, output: 'ApiDomainTarget', isCloudFront: false },
      { name: resultsDomain?.name, output: 'ResultsDomainTarget', isCloudFront: true },
      { name: portal.domain?.name, output: 'PortalDomainTarget', isCloudFront: true },
    ].flatMap(({ name, ...rest }) => (name === undefined ? [] : [{ name, ...rest }]));
    if (names.length === 0) return [];
    const { outputs } = await asked.stack();
    return Promise.all(names.map((one) => ask(asked, { ...one, target: outputs.get(one.output) })));
  },
};

interface Name {
  readonly name: string;
  readonly output: string;
  readonly isCloudFront: boolean;
  /** Undefined before the first deployment. */
  readonly target: string | undefined;
}

async function ask({ aliasesOf }: Asked, { name, output, isCloudFront, target }: Name): Promise<Finding> {
  const question = `DNS: ${name}`;
  const aliases = await aliasesOf(name).catch((error: unknown) => {
    throw new CannotAsk(error instanceof Error ? error.message : String(error), { cause: error });
  });
  const found = aliases === undefined || aliases.length === 0 ? 'no CNAME' : aliases.join(', ');
  if (target === undefined) {
    // CloudFront refuses a name whose DNS already leads to another distribution.
    const other = isCloudFront && aliases?.some((alias) => alias.endsWith('.cloudfront.net'));
    return {
      question,
      level: other ? 'stops' : 'ok',
      found,
      wanted: 'nothing before the first deployment',
      ...(other && {
        fix: 'remove the record: CloudFront refuses a name that leads to another distribution',
      }),
    };
  }
  const leads = aliases?.includes(target) === true;
  return {
    question,
    // An alias record of Route 53 answers with addresses, which look the same for every target.
    level: leads ? 'ok' : 'note',
    found,
    wanted: target,
    ...(!leads && { fix: `a CNAME, or an alias record, to the output ${output}` }),
  };
}
