/** Requests to the simulated table, in DynamoDB's own JSON. */
import type { Attribute, Item } from '../../../local/dynamodb/attributes.ts';

/** The body of a request to any service, not yet checked. */
export type Input = Readonly<Record<string, unknown>>;

/** The members that one write or read of an item may have. */
export interface ItemRequest {
  readonly TableName?: string;
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
  readonly RequestItems?: Readonly<
    Record<string, { readonly Keys: readonly Item[]; readonly ConsistentRead?: boolean }>
  >;
}

/** The request as a table request. The SDK has built it, so its members have DynamoDB's types. */
export function asTableRequest(input: Input): TableRequest {
  return input;
}

/**
 * The kinds of the items in the request, the index that it queries, or the first attribute that an update
 * sets.
 */
export function targetOf(input: Input): string {
  const request = asTableRequest(input);
  if (request.TransactItems)
    return request.TransactItems.map((item) => Object.values(item).map(kindOf).join('')).join('+');
  // A batch is named by its last key: the SDK's caller asks again for the keys that stayed unprocessed, and
  // the name must stay the same.
  if (request.RequestItems)
    return Object.values(request.RequestItems)
      .map(({ Keys }) => `…${kindOf({ Key: Keys.at(-1) ?? {} })}`)
      .join('+');
  if (request.UpdateExpression !== undefined)
    return `${kindOf(request)} ${request.UpdateExpression.split(/[=,]/)[0]?.trim() ?? ''}`;
  if (request.IndexName !== undefined)
    return `${request.IndexName}${request.Select === 'COUNT' ? ' count' : ''}`;
  return request.Key || request.Item ? kindOf(request) : '';
}

/**
 * The sort key up to its first #, such as KEY or LEDGER. The copy of an invitation that a sign-in reads has an account
 * as its sort key, and is named by its partition.
 */
function kindOf(request: ItemRequest | undefined): string {
  const key = request?.Key ?? request?.Item;
  const invited = /^INVITED(?=#)/.exec(key?.['pk']?.S ?? '');
  return invited?.[0] ?? (key?.['sk']?.S ?? '').split('#')[0] ?? '';
}
