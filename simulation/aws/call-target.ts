/**
 * Names what a request to DynamoDB is about, so that the trace and the faults tell the places in the code
 * apart.
 */
import { asTableRequest, type Input, type ItemRequest } from './table-request.ts';

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
 * The sort key up to its first #, such as KEY or LEDGER. An invitation at the place where a sign-in looks for it has an
 * account as its sort key, and is named by its partition.
 */
function kindOf(request: ItemRequest | undefined): string {
  const key = request?.Key ?? request?.Item;
  const invited = /^INVITED(?=#)/.exec(key?.['pk']?.S ?? '');
  return invited?.[0] ?? (key?.['sk']?.S ?? '').split('#')[0] ?? '';
}
