import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { AwsError } from '../aws-error.ts';
import { addToCopies } from './update-sections.ts';
import type { UpdateSection } from './update-sections.ts';

/**
 * The only file that imports dynalite's inner modules. They have no types and are not a public interface of
 * dynalite, so the project pins its version. All comments here describe dynalite 4.0.0, as its `db/index.js`,
 * `actions/` and `validations/` show it.
 */

/** An item or key in DynamoDB's own JSON: `{ pk: { S: 'a' } }`. */
export type AttributeMap = Record<string, Record<string, unknown>>;

/** A callback in Node's form. */
export type Callback<Value> = (error: Error | null | undefined, value?: Value) => void;

/** The bounds and direction of a stream over a sub-database. The keys are without its prefix. */
export interface RangeOptions {
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** The keys of LevelDB under one prefix. */
export interface SubDatabase {
  readonly lock: (
    key: string,
    work: (release: (callback: Callback<unknown>) => Callback<unknown>) => void,
  ) => void;
  readonly get: (key: string, callback: Callback<unknown>) => void;
  readonly put: (key: string, value: unknown, callback: Callback<unknown>) => void;
  readonly del: (key: string, callback: Callback<unknown>) => void;
  readonly createValueStream: (options: RangeOptions) => Readable;
}

/** The database as it was at one point in time. The holder closes it after use. */
export interface LevelSnapshot {
  close(): Promise<void>;
}

/** One step of an atomic batch. */
export type BatchStep =
  | { readonly type: 'put'; readonly key: string; readonly value: unknown }
  | { readonly type: 'del'; readonly key: string };

/** The LevelDB, or the memory in its place, that holds all tables. Values are JSON. */
export interface Level {
  open(): Promise<void>;
  get(key: string): Promise<unknown>;
  batch(steps: readonly BatchStep[]): Promise<void>;
  values(options: RangeOptions & { readonly snapshot?: LevelSnapshot }): AsyncIterable<unknown>;
  iterator(options: RangeOptions): AsyncIterable<[string, unknown]>;
  snapshot(): LevelSnapshot;
}

/** A table's record in dynalite: the input of CreateTable and the table's status. */
export interface TableRecord {
  readonly TableName: string;
  readonly KeySchema: readonly { readonly AttributeName: string }[];
  readonly GlobalSecondaryIndexes?: { IndexStatus: string }[];
  TableStatus: string;
}

/** The store that dynalite's actions read and write. */
export interface Store {
  readonly db: Level;
  readonly tableDb: SubDatabase;
  readonly options: object;
  readonly getItemDb: (table: string) => SubDatabase;
  readonly getIndexDb: (type: string, table: string, index: string) => SubDatabase;
  readonly getTable: (name: string, checkStatus: boolean, callback: Callback<TableRecord>) => void;
}

/** A request that dynalite has checked. Its expressions are already parsed. */
export type CheckedInput = Record<string, unknown> & {
  readonly TableName: string;
  readonly Key?: AttributeMap;
  readonly Item?: AttributeMap;
  /** The parsed update expression. */
  readonly _updates?: { sections: UpdateSection[] };
};

interface Engine {
  readonly create: (
    options: Record<string, unknown>,
  ) => Store & { readonly lifecycleManager: { readonly gracefulClose: () => Promise<void> } };
  readonly createKey: (item: AttributeMap, table: TableRecord) => string;
  readonly validateKey: (key: AttributeMap, table: TableRecord) => Error | null | undefined;
  readonly validateItem: (item: AttributeMap, table: TableRecord) => Error | null | undefined;
  readonly checkConditional: (
    input: CheckedInput,
    item: AttributeMap | undefined,
  ) => Error | null | undefined;
}

interface Validations {
  readonly checkTypes: (input: object, types: object) => CheckedInput;
  readonly checkValidations: (input: CheckedInput, types: object, custom: unknown, store: Store) => void;
}

type Action = (store: Store, input: CheckedInput, callback: Callback<Record<string, unknown>>) => void;

interface Rule {
  readonly types: object;
  readonly custom: unknown;
}

/** The types of dynalite's inner modules, by their names. */
interface LoadDynalite {
  (name: 'dynalite/db'): Engine;
  (name: 'dynalite/validations'): Validations;
  (name: `dynalite/validations/${string}`): Rule;
  (name: `dynalite/actions/${string}`): Action;
}

const load: LoadDynalite = createRequire(import.meta.url);
const validations = load('dynalite/validations');

/** dynalite's functions for keys and conditions. */
export const engine = load('dynalite/db');

const dynaliteOperations = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'GetItem',
  'ListTables',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
  'UpdateTable',
] as const;

/** An operation that dynalite has. */
export type Operation = (typeof dynaliteOperations)[number];

const moduleOf = (operation: Operation): string => operation.charAt(0).toLowerCase() + operation.slice(1);
const actions = new Map(
  dynaliteOperations.map((operation) => [operation, load(`dynalite/actions/${moduleOf(operation)}`)]),
);
const rules = new Map(
  dynaliteOperations.map((operation) => [operation, load(`dynalite/validations/${moduleOf(operation)}`)]),
);

/** Whether dynalite has the operation. */
export function isOperation(name: string): name is Operation {
  return dynaliteOperations.some((operation) => operation === name);
}

/**
 * Checks a request as DynamoDB does and parses its expressions. Members that dynalite does not know
 * (DeletionProtectionEnabled, OnDemandThroughput) are removed. Throws ValidationException.
 */
export function checkInput(store: Store, operation: Operation, input: object): CheckedInput {
  const rule = rules.get(operation);
  if (rule === undefined) throw new Error(`dynalite has no ${operation}`);
  try {
    // The check works on a copy, because it deletes members and adds the parsed expressions to the object.
    const checked = validations.checkTypes(structuredClone(input), rule.types);
    validations.checkValidations(checked, rule.types, rule.custom, store);
    addToCopies(checked);
    return checked;
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Runs an operation on a checked request. Throws AwsError for a request that DynamoDB refuses. */
export function runAction(
  store: Store,
  operation: Operation,
  input: CheckedInput,
): Promise<Record<string, unknown>> {
  const action = actions.get(operation);
  if (action === undefined) throw new Error(`dynalite has no ${operation}`);
  return promised<Record<string, unknown>>((callback) => action(store, input, callback)).then(
    (output) => output ?? {},
    (error: unknown) => {
      throw asRefusal(error);
    },
  );
}

/** Reads the table's record. Throws ResourceNotFoundException. */
export async function readTable(store: Store, name: string): Promise<TableRecord> {
  const table = await promised<TableRecord>((callback) => store.getTable(name, true, callback)).catch(
    (error: unknown) => {
      throw asRefusal(error);
    },
  );
  if (table === undefined) throw new Error(`dynalite answered no table for ${name}`);
  return table;
}

/** Reads the item under a key that engine.createKey has made. */
export function readItem(store: Store, table: string, key: string): Promise<AttributeMap | undefined> {
  return promised<AttributeMap>((callback) => store.getItemDb(table).get(key, callback as Callback<unknown>));
}

/**
 * An AwsError for a refusal. dynalite's errors for refusals have a `body`; an error without one is a defect
 * of the program.
 */
function asRefusal(error: unknown): unknown {
  const refusal = refusalOf(error);
  return refusal === undefined ? error : new AwsError(refusal.code, refusal.message);
}

const bodySchema = z.object({
  __type: z.string(),
  message: z.string().optional(),
  Message: z.string().optional(),
});

/** The code and the message in the body of dynalite's error. Undefined for any other error. */
export function refusalOf(error: unknown): { readonly code: string; readonly message: string } | undefined {
  if (!(error instanceof Error) || !('body' in error)) return undefined;
  const { __type, message, Message } = bodySchema.parse(error.body);
  return { code: __type.slice(__type.indexOf('#') + 1), message: message ?? Message ?? '' };
}

function promised<Value>(start: (callback: Callback<Value>) => void): Promise<Value | undefined> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value))));
}
