import { portalPath } from './front/portal-front.ts';
import { resultsPath } from './front/objects.ts';
import { localRegion } from './aws/aws-call.ts';
import type { LocalDistribution, LocalTemplate } from './template.ts';

/** The template with this server's address for the distributions and REST APIs, and the given variables. */
export function servedUnder(
  url: string,
  template: LocalTemplate,
  overrides: Readonly<Record<string, string>>,
): LocalTemplate {
  const restApis = template.restApis.map(
    ({ id }) => [`https://${id}.execute-api.${localRegion}.amazonaws.com`, url] as const,
  );
  const distributions = template.distributions.flatMap(({ domains, behaviors }) =>
    domains.map((domain) => {
      const path = behaviors.length > 0 ? portalPath : resultsPath.slice(0, -1);
      return [`https://${domain}`, `${url}${path}`] as const;
    }),
  );
  const addresses = [...restApis, ...distributions];
  const withLocalAddresses = (value: string): string =>
    addresses.reduce((text, [deployed, local]) => text.replaceAll(deployed, local), value);
  const valueOf = (name: string, value: string): string =>
    overrides[name]?.replaceAll('{origin}', url) ?? withLocalAddresses(value);
  return {
    ...template,
    functions: template.functions.map((one) => ({
      ...one,
      environment: mapValues(one.environment, valueOf),
    })),
    distributions: template.distributions.map((one) => ({
      ...one,
      added: mapValues(one.added, (_name, value) => withLocalAddresses(value)),
    })),
    outputs: {
      ...mapValues(template.outputs, (_name, value) => withLocalAddresses(value)),
      // The operator's command reads the setting here.
      ...(overrides['RESULTS'] !== undefined && { Results: overrides['RESULTS'] }),
    },
  };
}

/** A machine that serves others takes no payments yet: it has neither their functions nor their outputs. */
export function withoutPayments(template: LocalTemplate): LocalTemplate {
  const isOther = (id: string): boolean => !/^(ReceivePayment|FollowPayments|PortalPay)[0-9A-F]{8}$/.test(id);
  return {
    ...template,
    functions: template.functions.filter(({ id }) => isOther(id)),
    routes: template.routes.filter(({ functionId }) => isOther(functionId)),
    schedules: template.schedules.filter(({ functionId }) => isOther(functionId)),
    outputs: Object.fromEntries(
      Object.entries(template.outputs).filter(([name]) => !name.startsWith('Payment')),
    ),
  };
}

/** The distribution, whose pages upload to the local S3. Its address is known only after the template is read. */
export function withLocalUploads(
  distribution: LocalDistribution,
  { buckets }: Pick<LocalTemplate, 'buckets'>,
  awsUrl: string,
): LocalDistribution {
  const added = mapValues(distribution.added, (_name, value) =>
    buckets.reduce(
      (text, { name }) => text.replaceAll(`https://${name}.s3.${localRegion}.amazonaws.com`, awsUrl),
      value,
    ),
  );
  return { ...distribution, added };
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
}
