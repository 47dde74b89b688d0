/** Requests to the simulated table, in DynamoDB's own JSON. */
import type { Attribute, Item } from '../../local/dynamodb/attributes.ts';

/** The body of a request to any service, not yet looked at. */
export type Input = Readonly<Record<string, unknown>>;

/** The members that one write or read of an item may have. */
export interface ItemRequest {
  readonly Key?: Item;
  readonly Item?: Item;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, Attribute>>;
  readonly ReturnValues?: string;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

/** One step of a transaction, under the name of its kind. */
export type TransactItem = Readonly<Record<string, ItemRequest | undefined>>;

/** Everything that the adapters send to the table. */
export interface TableRequest extends ItemRequest {
  readonly IndexName?: string;
  readonly KeyConditionExpression?: string;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly Select?: string;
  readonly ExclusiveStartKey?: Item;
  readonly TransactItems?: readonly TransactItem[];
  readonly ClientRequestToken?: string;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
}

/** The request as a table request. The SDK has built it, so its members have DynamoDB's types. */
export function asTableRequest(input: Input): TableRequest {
  return input;
}
