/** What the host names of the settings need: certificates, CloudFront's aliases, API Gateway's domain, and DNS. */
import { type CertificateDetail, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { GetDomainNameCommand } from '@aws-sdk/client-api-gateway';
import { type DistributionSummary, paginateListDistributions } from '@aws-sdk/client-cloudfront';
import type { Settings } from '../../../lib/settings.ts';
import { askAws, askForOne, CannotAsk, named } from '../ask-aws.ts';
import { type Asked, type Finding, type Question, judged } from '../asked.ts';

interface NamedCertificate {
  readonly setting: string;
  readonly name: string;
  readonly certificateArn: string;
  /** The region in which its service reads the certificate. */
  readonly region: string;
}

/** CloudFront takes certificates of this region only. */
const cloudFrontRegion = 'us-east-1';
/** ACM renews a certificate 60 days before its end. One that is nearer to its end is not renewed. */
const renewedDays = 45;

export const certificates: Question = {
  title: 'Certificates',
  ask(asked) {
    return Promise.all(certificatesOf(asked.settings, asked.region).map((one) => ask(asked, one)));
  },
};

function certificatesOf(settings: Settings, region: string): NamedCertificate[] {
  return [
    { setting: 'apiDomain', domain: settings.apiDomain, region },
    { setting: 'resultsDomain', domain: settings.resultsDomain, region: cloudFrontRegion },
    { setting: 'portal.domain', domain: settings.portal.domain, region: cloudFrontRegion },
  ].flatMap(({ setting, domain, region: place }) => (domain ? [{ setting, ...domain, region: place }] : []));
}

async function ask({ account, clients, now }: Asked, one: NamedCertificate): Promise<Finding> {
  const question = `Certificate of ${one.setting}`;
  const wanted = `issued, for ${one.name}, in ${one.region} of this account`;
  const stops = (found: string, fix: string): Finding => ({ question, level: 'stops', found, wanted, fix });
  // arn:aws:acm:REGION:ACCOUNT:certificate/ID
  const [, , , region = '', owner = ''] = one.certificateArn.split(':');
  if (region !== one.region)
    return stops(`it is in ${region}`, `request one in ${one.region} (aws acm request-certificate)`);
  if (owner !== account) return stops(`it belongs to the account ${owner}`, 'request one in this account');
  try {
    const answer = await askForOne(
      'acm:DescribeCertificate',
      () =>
        clients.acmIn(region).send(new DescribeCertificateCommand({ CertificateArn: one.certificateArn })),
      named('ResourceNotFoundException'),
    );
    if (!answer?.Certificate) return stops('no such certificate', 'correct certificateArn in the settings');
    return certified(answer.Certificate, one, { question, wanted, stops, now: now() });
  } catch (error) {
    if (!(error instanceof CannotAsk)) throw error;
    // The other certificates can still be read.
    return { question, level: 'unasked', found: `could not ask: ${error.message}`, wanted };
  }
}

interface Judging {
  readonly question: string;
  readonly wanted: string;
  readonly stops: (found: string, fix: string) => Finding;
  readonly now: Date;
}

function certified(
  { Status, DomainName = '', SubjectAlternativeNames = [], NotAfter }: CertificateDetail,
  { name }: NamedCertificate,
  { question, wanted, stops, now }: Judging,
): Finding {
  if (Status !== 'ISSUED')
    return stops(
      `its status is ${Status ?? 'unknown'}`,
      Status === 'PENDING_VALIDATION'
        ? 'add the CNAME that `aws acm describe-certificate` names to your DNS, and wait until it is ISSUED'
        : 'request a new one',
    );
  const names = [...new Set([DomainName, ...SubjectAlternativeNames])];
  if (!names.some((covered) => covers(covered, name)))
    return stops(`it is for ${names.join(', ')}`, `request one for ${name}`);
  const days = NotAfter && Math.floor((NotAfter.getTime() - now.getTime()) / 86_400_000);
  if (days !== undefined && days < renewedDays)
    return {
      question,
      level: 'limits',
      found: `issued, ends in ${days} days`,
      wanted,
      fix: 'ACM did not renew it: see whether its CNAME is still in your DNS, or import a new one',
    };
  return { question, level: 'ok', found: 'issued', wanted };
}

/** A wildcard matches one label of a name. */
function covers(covered: string, name: string): boolean {
  return covered === name || (covered.startsWith('*.') && covered.slice(2) === name.replace(/^[^.]+\./, ''));
}

/** Whether the host name of the API is free in API Gateway. */
export const apiDomain: Question = {
  title: 'API Gateway: the name of apiDomain',
  async ask({ settings, stack, clients: { gateway } }) {
    const name = settings.apiDomain?.name;
    if (name === undefined) return [];
    const found = await askForOne(
      'apigateway:GET on /domainnames',
      () => gateway.send(new GetDomainNameCommand({ domainName: name })),
      named('NotFoundException'),
    );
    const { outputs } = await stack();
    const isOurs = found?.regionalDomainName === outputs.get('ApiDomainTarget');
    const taken = found !== undefined && !isOurs;
    return [
      judged(this.title, !taken, 'stops', {
        found: taken
          ? `${name} is there already, and not of this stack`
          : `${name} is free, or of this stack`,
        wanted: 'free',
        fix: `aws apigateway delete-domain-name --domain-name ${name}, or choose another name`,
      }),
    ];
  },
};

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
    return judged(`CloudFront: the name ${name}`, !taken, 'stops', {
      found: taken
        ? `belongs to the distribution ${taken.Id ?? ''}`
        : 'no other distribution of the account has it',
      wanted: 'free',
      fix: 'remove the name from that distribution, or choose another one',
    });
  });
}

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
    return Promise.all(names.map((one) => targetOf(asked, { ...one, target: outputs.get(one.output) })));
  },
};

interface Name {
  readonly name: string;
  readonly output: string;
  readonly isCloudFront: boolean;
  /** Undefined before the first deployment. */
  readonly target: string | undefined;
}

async function targetOf(
  { aliasesOf }: Asked,
  { name, output, isCloudFront, target }: Name,
): Promise<Finding> {
  const question = `DNS: ${name}`;
  const aliases = await aliasesOf(name).catch((error: unknown) => {
    throw new CannotAsk(error instanceof Error ? error.message : String(error), { cause: error });
  });
  const found = aliases === undefined || aliases.length === 0 ? 'no CNAME' : aliases.join(', ');
  if (target === undefined) {
    // CloudFront refuses a name whose DNS already leads to another distribution.
    const other = isCloudFront && aliases?.some((alias) => alias.endsWith('.cloudfront.net'));
    return judged(question, !other, 'stops', {
      found,
      wanted: 'nothing before the first deployment',
      fix: 'remove the record: CloudFront refuses a name that leads to another distribution',
    });
  }
  const leads = aliases?.includes(target) === true;
  // An alias record of Route 53 answers with addresses, which do not show the target.
  return judged(question, leads, 'note', {
    found,
    wanted: target,
    fix: `a CNAME, or an alias record, to the output ${output}`,
  });
}
