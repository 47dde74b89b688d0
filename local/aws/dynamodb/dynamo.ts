import { isObject } from '../../json-object.ts';
import type { AwsCall, AwsOutput, AwsService } from '../aws-call.ts';
import { AwsError } from '../aws-error.ts';
import { unknownOperation } from '../call-input.ts';
import { createMutex } from '../mutex.ts';
import { checkInput, engine, isOperation, readItem, readTable, runAction } from './dynalite.ts';
import type { LevelSnapshot, Operation, Store, TableRecord } from './dynalite.ts';
import { knowTables } from './known-tables.ts';
import { describeTimeToLive, expireItems, updateTimeToLive } from './time-to-live.ts';
import { itemKey, transactGet, transactWrite } from './transactions.ts';
import { bufferWrites, readingStore } from './write-buffer.ts';

/** The options of createDynamo(). */
export interface DynamoOptions {
  /** The folder of the LevelDB with the tables. Without a folder the tables are in memory. */
  readonly folder?: string;
  /** The time in epoch milliseconds. */
  readonly now: () => number;
}

/** The stand-in of DynamoDB. */
export interface Dynamo {
  readonly service: AwsService;
  /** Waits for the running operations, then frees the folder. */
  readonly close: () => Promise<void>;
  /**
   * Deletes the items whose time to live is over, as the real service does some time later. Resolves with
   * their number.
   */
  readonly expireItems: () => Promise<number>;
}

/** The operations that change items or tables. They run one at a time, each as one atomic batch. */
const bufferedOperations: ReadonlySet<Operation> = new Set([
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
  'CreateTable',
]);

/** The operations that dynalite does in several writes of its own. The service never calls them. */
const unbufferedOperations: ReadonlySet<Operation> = new Set(['DeleteTable', 'UpdateTable']);

/** Makes DynamoDB from dynalite, and adds transactions, time to live and atomic writes to it. */
export function createDynamo({ folder, now }: DynamoOptions): Dynamo {
  const base = engine.create({
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
    ...(folder !== undefined && { path: folder }),
  });
  const { store, forget } = knowTables(base);
  const opened = open(store, folder);
  // The first call reports an error of the opening. Until then the rejection must not count as unhandled.
  opened.catch(() => undefined);
  const exclusive = createMutex();
  const lag = createIndexLag(store);

  const service: AwsService = async (call) => {
    await opened;
    lag.follow(call);
    const { operation, input } = call;
    switch (operation) {
      case 'TransactWriteItems':
        return exclusive(() => transactWrite(store, input, now()));
      case 'TransactGetItems':
        return exclusive(() => transactGet(store, input));
      case 'UpdateTimeToLive':
        return exclusive(() => updateTimeToLive(store, call));
      case 'DescribeTimeToLive':
        return describeTimeToLive(store, call);
    }
    if (!isOperation(operation)) throw unknownOperation(call);
    if (bufferedOperations.has(operation)) return exclusive(() => write(store, operation, input));
    const checked = checkInput(store, operation, input);
    if (unbufferedOperations.has(operation))
      return exclusive(() => runAction(store, operation, checked).finally(forget));
    return runAction(readingStore(store, lag.snapshot()), operation, checked);
  };

  return {
    service,
    expireItems: async () => {
      await opened;
      return expireItems(store, exclusive, now());
    },
    close: async () => {
      await opened.catch(() => undefined);
      await exclusive(() => Promise.resolve());
      lag.end();
      await base.lifecycleManager.gracefulClose();
    },
  };
}

async function open(store: Store, folder: string | undefined): Promise<void> {
  try {
    await store.db.open();
  } catch (error) {
    throw new Error(
      `the tables in ${folder ?? 'memory'} cannot be opened: is another Darkroom running on this folder?`,
      { cause: error },
    );
  }
}

async function write(
  store: Store,
  operation: Operation,
  request: Record<string, unknown>,
): Promise<AwsOutput> {
  const { ReturnValuesOnConditionCheckFailure: onFailure, ...rest } = request;
  const input = checkInput(store, operation, rest);
  const buffer = bufferWrites(store);
  try {
    const output = await runAction(buffer.store, operation, input);
    // A moment later dynalite would write the table again with the status ACTIVE, but not through this
    // buffer. So the status is set here.
    if (operation === 'CreateTable' && isTableRecord(output.TableDescription))
      activate(output.TableDescription);
    await buffer.commit();
    return output;
  } catch (error) {
    if (
      onFailure !== 'ALL_OLD' ||
      !(error instanceof AwsError) ||
      error.code !== 'ConditionalCheckFailedException'
    )
      throw error;
    const table = await readTable(store, input.TableName);
    const Item = await readItem(store, input.TableName, itemKey(table, input));
    throw new AwsError(error.code, error.message, { fields: Item === undefined ? {} : { Item } });
  }
}

function isTableRecord(value: unknown): value is TableRecord {
  return isObject(value) && 'TableStatus' in value;
}

/** Sets the table's status to ACTIVE. The description is the same object as the record in the buffer. */
function activate(table: TableRecord): void {
  table.TableStatus = 'ACTIVE';
  for (const index of table.GlobalSecondaryIndexes ?? []) index.IndexStatus = 'ACTIVE';
}

/** Holds the old view of the database that queries on indexes get while the fault index-lag is on. */
function createIndexLag(store: Store): {
  follow(call: AwsCall): void;
  snapshot(): LevelSnapshot | undefined;
  end(): void;
} {
  let held: LevelSnapshot | undefined;
  const end = (): void => {
    void held?.close();
    held = undefined;
  };
  return {
    // Every call passes here before it changes anything. So the view is from the moment when the fault was
    // set.
    follow: (call) => {
      if (call.indexesLag === true) held ??= store.db.snapshot();
      else end();
    },
    snapshot: () => held,
    end,
  };
}
