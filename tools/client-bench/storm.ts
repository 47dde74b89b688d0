/** Sends many requests with the client through a hostile proxy, and counts images and charges. */
import { createAccount } from '../../admin/commands/accounts.ts';
import { auditTable } from '../../admin/audit-table.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import type { OperatorServices } from '../../admin/services.ts';
import type { Darkroom, DarkroomError } from '../../client/src/index.ts';
import type { AccountId } from '../../core/ids.ts';

export interface Storm {
  readonly darkroom: Darkroom;
  readonly model: string;
  readonly requests: number;
  /** How many requests are open at once. */
  readonly atOnce: number;
  /** Makes the keys of the requests: the same seed of the proxy then gives the same run. */
  readonly name: string;
}

export interface StormResult {
  /** How many requests gave their image at the first call. */
  readonly first: number;
  /** How many calls were needed again, with the same key, until every request had its image. */
  readonly repeated: number;
  /** The errors of calls, by their names. */
  readonly errors: Readonly<Record<string, number>>;
  /** The creation of each request. */
  readonly ids: readonly string[];
}

/** A request that fails this often is given up. */
const mostCalls = 20;

export async function runStorm({ darkroom, model, requests, atOnce, name }: Storm): Promise<StormResult> {
  const errors: Record<string, number> = {};
  const ids = new Array<string>(requests);
  let first = 0;
  let repeated = 0;
  let next = 0;

  const render = async (index: number): Promise<void> => {
    for (let call = 1; ; call += 1) {
      try {
        const done = await darkroom.images.generateAndWait(
          { model, prompt: `lake ${index}` },
          { idempotencyKey: `${name}-${index}` },
        );
        ids[index] = done.id;
        if (call === 1) first += 1;
        return;
      } catch (error) {
        const { name: kind } = error as DarkroomError;
        errors[kind] = (errors[kind] ?? 0) + 1;
        if (call === mostCalls) throw error;
        repeated += 1;
      }
    }
  };

  const lane = async (): Promise<void> => {
    while (next < requests) await render((next += 1) - 1);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { first, repeated, errors, ids };
}

const provider = 'openai';
/** A model of the provider that a loopback server can answer for. */
export const stormModel = 'gpt-image-2-low';

/** The environment of a service whose provider is at this address. */
export function stormEnvironment(providerUrl: string): Record<string, string> {
  return { PROVIDER_BASE_URLS: JSON.stringify({ [provider]: providerUrl }) };
}

/** An account whose limits and money never refuse a request. */
export async function stormAccount(
  operator: OperatorServices,
  providerKey: string,
): Promise<{ readonly id: AccountId; readonly key: string }> {
  await operator.credentials.set(provider, providerKey);
  await operator.providers.enable(provider);
  const account = await createAccount(operator, {
    name: 'storm',
    balance: '10000',
    postRate: '1000000',
    getRate: '1000000',
    maxConcurrent: '100000',
  });
  await operator.accounts.change(account.id, { providers: [provider] });
  const { key } = await issueKey(operator, account, { name: 'storm' });
  return { id: account.id, key };
}

export interface StormBooks {
  readonly creations: number;
  /** Creations with exactly one charge and no refund. */
  readonly chargedOnce: number;
  /** Differences between the books and the creations. */
  readonly differences: number;
}

export async function stormBooks(operator: OperatorServices, id: AccountId): Promise<StormBooks> {
  const ledger = await operator.wallet.ledger(id);
  const rows = Map.groupBy(ledger, ({ creationId }) => creationId);
  rows.delete(undefined);
  const { counted, differences } = await auditTable(operator, { only: id });
  return {
    creations: counted.creations,
    chargedOnce: [...rows.values()].filter((own) => own.length === 1 && own[0]?.kind === 'charge').length,
    differences: differences.length,
  };
}
