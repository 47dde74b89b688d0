/** An account of AWS with its quotas, and what they have refused. */
import { AwsError } from '../../../local/aws/aws-error.ts';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { createFunctionConcurrency } from './function-concurrency.ts';
import type { AwsQuotas } from './quotas.ts';
import type { Input } from './table-request.ts';
import { createTableThroughput, type TableThroughput } from './table-throughput.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** How often a limit has refused something, and when it did so first, in epoch milliseconds. */
export interface Refusals {
  count: number;
  readonly firstAt: number;
}

/**
 * @param now epoch milliseconds
 * @param warm the number of idle environments of a function at the beginning
 */
export function createAwsAccount(
  now: () => number,
  quotas: AwsQuotas,
  warm: Readonly<Record<string, number>> = {},
) {
  const refusals = new Map<string, Refusals>();
  const note = (limit: string): void => {
    const known = refusals.get(limit);
    if (known) known.count += 1;
    else refusals.set(limit, { count: 1, firstAt: now() });
  };
  const gateway = createTokenBucket(now, quotas.gateway);
  const stage = createTokenBucket(now, quotas.stage);
  const routes = new Map<string, TokenBucket>();
  /** The throttle of a route, if routes have throttles of their own. */
  const throttleOf = (route: string): TokenBucket | undefined => {
    const size = route === 'callback' ? quotas.callbacks : quotas.route;
    const bucket = routes.get(route) ?? (size && createTokenBucket(now, size));
    if (bucket) routes.set(route, bucket);
    return bucket;
  };
  const { perSecond, burst } = quotas.steps.stateTransitions;
  const states = createTokenBucket(now, { perSecond, burst });
  let requests = 0;
  let transitions = 0;
  let table: TableThroughput | undefined;
  return {
    quotas,
    functions: createFunctionConcurrency(now, quotas, warm, note),
    /** The throughput of a table whose items `get` reads. There is one table. */
    tableOf: (get: (pk: string, sk: string) => Item | undefined): TableThroughput =>
      (table = createTableThroughput(now, quotas, get, note)),
    /** The throughput of the table, once there is one. */
    table: (): TableThroughput | undefined => table,
    /** Whether the gateway lets a request through, to the function of its route. */
    admitsRequest: (route: string): boolean => {
      const limit =
        throttleOf(route)?.take() === false
          ? `throttle of ${route}`
          : !stage.take()
            ? 'throttle of the stage'
            : !gateway.take()
              ? 'requests of the account'
              : undefined;
      if (limit === undefined) requests += 1;
      else note(limit);
      return limit === undefined;
    },
    /** Takes a state transition, and gives the milliseconds for which it has to wait. */
    transitionWait: (): number => {
      transitions += 1;
      const wait = states.millisToNext();
      if (wait > 0) note('state transitions');
      // The execution waits, and its transition is spent in any case.
      states.spend(1);
      return wait;
    },
    requests: (): number => requests,
    transitions: (): number => transitions,
    note,
    refusals,
  };
}

export type AwsAccount = ReturnType<typeof createAwsAccount>;

export function createEncryptionSecret() {
  let version = 1;
  return {
    /** Makes a new version the current one. Older versions stay readable by their ids. */
    rotate: () => void (version += 1),
    perform: (_operation: string, input: Input): object => {
      const id =
        typeof input['VersionId'] === 'string'
          ? input['VersionId']
          : `version-${version}-0000-0000-0000-000000000000`;
      return { VersionId: id, SecretString: `encryption-secret-of-${id}` };
    },
  };
}

/** A value of a secret, as Secrets Manager gives it. @param values the current one, and the one before it if there is one */
export function secretAt(stage: unknown, [current, previous]: readonly string[]): object {
  const SecretString = stage === 'AWSPREVIOUS' ? previous : current;
  if (SecretString !== undefined) return { SecretString };
  throw new AwsError('ResourceNotFoundException', 'the secret has no version with this label');
}
