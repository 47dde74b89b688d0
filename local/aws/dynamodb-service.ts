/** DynamoDB as the one machine serves it: the table engine behind the port of AWS's services. */
import { setTimeout } from 'node:timers/promises';
import { createTableEngine, type Input, type Moment } from '../dynamodb/engine.ts';
import { createNoStorage, type TableStorage } from '../dynamodb/storage.ts';
import type { AwsCall, AwsOutput, AwsService } from './aws-call.ts';

export interface DynamoOptions {
  /** The time in epoch milliseconds. */
  readonly now: () => number;
  /** The storage of the tables. The default stores nothing. */
  readonly storage?: TableStorage;
  /** How long a transaction holds its items before it commits. The default is 0: it commits at once. */
  readonly transactionHoldMillis?: number;
  /** How far back a table can be restored. The default is 0: not at all. */
  readonly recoverMillis?: number;
  /** Waits for a number of milliseconds. Tests replace it. */
  readonly wait?: (millis: number) => Promise<void>;
}

export interface Dynamo {
  readonly service: AwsService;
  /** Creates the table, or builds its indexes anew when they differ. */
  readonly ensureTable: (create: Input) => Promise<void>;
  readonly tableNames: () => Promise<readonly string[]>;
  /** Waits for the running operations, then frees the storage. */
  readonly close: () => Promise<void>;
  /** Deletes the items whose time to live is over. Resolves with their number. */
  readonly expireItems: () => Promise<number>;
}

/** Creates the stand-in. It reads what the storage kept before it answers its first call. */
export function createDynamo({
  now,
  storage = createNoStorage(),
  transactionHoldMillis = 0,
  recoverMillis = 0,
  wait = (millis) => setTimeout(millis),
}: DynamoOptions): Dynamo {
  const engine = createTableEngine({ now, storage, recoverMillis });
  const loaded = engine.load();
  // The first call reports an error of the loading. Until then the rejection must not count as unhandled.
  loaded.catch(() => undefined);
  const inFlight = new Set<Promise<AwsOutput>>();
  let isLoaded = false;
  let pinned: ReturnType<typeof engine.pin> | undefined;

  /** The moment at which queries read indexes: while the fault index-lag is on, the moment it was first seen. */
  function lagMoment({ indexesLag }: AwsCall): Moment | undefined {
    if (indexesLag === true) pinned ??= engine.pin();
    else if (pinned !== undefined) {
      pinned.unpin();
      pinned = undefined;
    }
    return pinned?.moment;
  }

  async function perform(call: AwsCall): Promise<AwsOutput> {
    if (!isLoaded) {
      await loaded;
      isLoaded = true;
    }
    const moment = lagMoment(call);
    if (call.operation === 'TransactWriteItems' && transactionHoldMillis > 0) return hold(call);
    return kept(() => engine.perform(call.operation, call.input, moment));
  }

  async function hold({ input }: AwsCall): Promise<AwsOutput> {
    const end = engine.begin(input);
    await wait(transactionHoldMillis);
    return kept(end);
  }

  /** Answers when everything that the answer may show is stored. A read or a refusal waits, too. */
  async function kept(work: () => AwsOutput): Promise<AwsOutput> {
    try {
      return work();
    } finally {
      await engine.settled();
    }
  }

  return {
    service: (call) => {
      const answer = perform(call);
      inFlight.add(answer);
      const forget = (): void => void inFlight.delete(answer);
      answer.then(forget, forget);
      return answer;
    },
    ensureTable: async (create) => {
      await loaded;
      engine.ensureTable(create);
      await engine.settled();
    },
    tableNames: async () => {
      await loaded;
      return engine.tableNames();
    },
    expireItems: async () => {
      await loaded;
      const deleted = engine.expire();
      await engine.settled();
      return deleted;
    },
    close: async () => {
      await loaded.catch(() => undefined);
      await Promise.allSettled(inFlight);
      await engine.close();
    },
  };
}
