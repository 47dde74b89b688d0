/**
 * Addresses of results. An address is unguessable, or it is also signed: then it opens one object until its end
 * (result-signer.ts).
 */
import type { Account } from '../accounts/account.ts';
import { resultMinutes } from '../contract/limits.ts';

/** What of a creation decides how its results are addressed. */
export interface Addressed {
  readonly signedMinutes?: number;
  readonly resultsExpireAt?: number;
}

/** The address of an object of a creation, for a reader of now. */
export type AddressOf = (key: string, creation: Addressed, nowMillis: number) => string;

export interface ResultAddresses {
  /** Reads the key only when one of these creations has results with signed addresses. Throws Overloaded without it. */
  readonly of: (creations: readonly Addressed[]) => Promise<AddressOf>;
}

/** The addresses of all results, signed where their creation wants it. @param baseUrl of the distribution */
export type Signer = (baseUrl: string) => Promise<AddressOf>;

/** @param signer absent: the service signs no addresses */
export function createResultAddresses(baseUrl: string, signer?: Signer): ResultAddresses {
  return {
    of: async (creations) =>
      signer && creations.some(isSigned) ? signer(baseUrl) : (key) => `${baseUrl}/${key}`,
  };
}

/** A creation that has not completed has no results. So an order never needs the key after its charge. */
function isSigned({ signedMinutes, resultsExpireAt }: Addressed): boolean {
  return signedMinutes !== undefined && resultsExpireAt !== undefined;
}

/**
 * How long the signed addresses of a new creation open its results. Undefined: they are not signed.
 * @param stated "off": the service signs none. "unguessable": for accounts that chose it. "signed": for all
 */
export function signedMinutesBy(
  stated: string,
): (account: Pick<Account, 'results' | 'resultsMinutes'>) => number | undefined {
  return ({ results, resultsMinutes = resultMinutes.usual }) =>
    stated === 'signed' || (stated === 'unguessable' && results === 'signed') ? resultsMinutes : undefined;
}

/** For a creation that did not complete: it has no results. */
export const noAddresses: AddressOf = () => '';
