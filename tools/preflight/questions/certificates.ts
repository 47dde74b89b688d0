import { DescribeCertificateCommand, type CertificateDetail } from '@aws-sdk/client-acm';
import type { Settings } from '../../../lib/settings.ts';
import { askForOne, CannotAsk, named } from '../ask-aws.ts';
import type { Asked } from '../asked.ts';
import type { Finding, Question } from '../finding.ts';

interface NamedCertificate {
  readonly setting: string;
  readonly name: string;
  readonly certificateArn: string;
  /** The region in which its service looks for the certificate. */
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
    return judged(answer.Certificate, one, { question, wanted, stops, now: now() });
  } catch (error) {
    if (!(error instanceof CannotAsk)) throw error;
    // The other certificates still can be asked for.
    return { question, level: 'unasked', found: `could not ask: ${error.message}`, wanted };
  }
}

interface Judging {
  readonly question: string;
  readonly wanted: string;
  readonly stops: (found: string, fix: string) => Finding;
  readonly now: Date;
}

function judged(
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

/** A wildcard stands for one step of a name. */
function covers(covered: string, name: string): boolean {
  return covered === name || (covered.startsWith('*.') && covered.slice(2) === name.replace(/^[^.]+\./, ''));
}
