/** Reads the quotas of an account from Service Quotas. */
import {
  paginateListAWSDefaultServiceQuotas,
  paginateListServiceQuotas,
  type ServiceQuota,
  type ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { askAws } from './ask-aws.ts';

/** Quotas by their names. */
type Quotas = ReadonlyMap<string, number>;

export interface QuotaReader {
  /**
   * The value of the quota in this account and region, of the service with this code. Undefined: Service Quotas
   * has no quota whose name fits. Throws CannotAsk.
   */
  valueOf(serviceCode: string, name: RegExp): Promise<number | undefined>;
}

/** Asks once for each service. */
export function createQuotaReader(client: ServiceQuotasClient): QuotaReader {
  const applied = new Map<string, Promise<Quotas>>();
  const defaults = new Map<string, Promise<Quotas>>();
  return {
    async valueOf(serviceCode, name) {
      const own = await once(applied, serviceCode, () => appliedQuotas(client, serviceCode));
      // The list of an account leaves out the quotas that never differed from their defaults.
      return (
        valueIn(own, name) ??
        valueIn(await once(defaults, serviceCode, () => defaultQuotas(client, serviceCode)), name)
      );
    },
  };
}

function once(
  known: Map<string, Promise<Quotas>>,
  key: string,
  read: () => Promise<Quotas>,
): Promise<Quotas> {
  const reading = known.get(key) ?? read();
  known.set(key, reading);
  return reading;
}

function valueIn(quotas: Quotas, name: RegExp): number | undefined {
  return [...quotas].find(([title]) => name.test(title))?.[1];
}

function appliedQuotas(client: ServiceQuotasClient, ServiceCode: string): Promise<Quotas> {
  return askAws('servicequotas:ListServiceQuotas', () =>
    collected(paginateListServiceQuotas({ client }, { ServiceCode })),
  );
}

function defaultQuotas(client: ServiceQuotasClient, ServiceCode: string): Promise<Quotas> {
  return askAws('servicequotas:ListAWSDefaultServiceQuotas', () =>
    collected(paginateListAWSDefaultServiceQuotas({ client }, { ServiceCode })),
  );
}

async function collected(pages: AsyncIterable<{ Quotas?: ServiceQuota[] | undefined }>): Promise<Quotas> {
  const quotas = new Map<string, number>();
  for await (const { Quotas: page } of pages)
    for (const { QuotaName, Value } of page ?? [])
      if (QuotaName !== undefined && Value !== undefined) quotas.set(QuotaName, Value);
  return quotas;
}
