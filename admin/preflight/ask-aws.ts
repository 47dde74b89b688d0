/** Asks AWS one thing. A refusal of AWS becomes a finding of its own, and never ends the command. */
import {
  paginateListAWSDefaultServiceQuotas,
  paginateListServiceQuotas,
  type ServiceQuota,
  type ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';

/** A query that AWS did not answer. The message says what is missing, such as a permission. */
export class CannotAsk extends Error {
  override readonly name = 'CannotAsk';
}

/** The services' error names for a missing permission. They have no common name. */
const denials = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'AuthorizationError',
  'AuthorizationErrorException',
  'ForbiddenException',
  'NotAuthorizedException',
  'UnauthorizedException',
  'UnauthorizedOperation',
]);

/** Returns the answer. Throws CannotAsk, which names the permission when this is what is missing. */
export async function askAws<Answer>(permission: string, send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    throw cannotAsk(permission, error);
  }
}

/**
 * Like askAws, for a thing that may not exist: then undefined.
 * @param isAbsent whether an error means that the thing does not exist
 */
export async function askForOne<Answer>(
  permission: string,
  send: () => Promise<Answer>,
  isAbsent: (error: Error) => boolean,
): Promise<Answer | undefined> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Error && isAbsent(error)) return undefined;
    throw cannotAsk(permission, error);
  }
}

/** For askForOne: the error has one of these names. */
export const named =
  (...names: readonly string[]) =>
  ({ name }: Error): boolean =>
    names.includes(name);

function cannotAsk(permission: string, error: unknown): CannotAsk {
  if (!(error instanceof Error)) return new CannotAsk(String(error));
  const why = denials.has(error.name) ? `needs ${permission}` : `${error.name}: ${error.message}`;
  return new CannotAsk(why, { cause: error });
}

/** CloudFormation has no error of its own for a stack that does not exist. */
export function isNoSuchStack({ name, message }: Error): boolean {
  return name === 'ValidationError' && message.includes('does not exist');
}

/** Quotas by their names. */
type Quotas = ReadonlyMap<string, number>;

export interface QuotaReader {
  /**
   * The value of the quota in this account and region, of the service with this code. Undefined: Service Quotas
   * has no quota whose name fits. Throws CannotAsk.
   */
  valueOf(serviceCode: string, name: RegExp): Promise<number | undefined>;
}

/** One query for each service. */
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
