import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { Overloaded } from '../../values/errors.ts';
import { inLanes } from '../../values/lanes.ts';
import { sendRead } from './send.ts';
import type { Item, ItemKey, Table } from './table.ts';

const unprocessedTries = 4;

/** BatchGetItem refuses a call with more keys. */
const mostKeys = 100;

/** Reads all items of these keys. Throws Overloaded. @param attributes absent: all of them */
export async function batchGet(
  table: Table,
  wanted: readonly ItemKey[],
  attributes?: readonly string[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let start = 0; start < wanted.length; start += mostKeys) {
    items.push(...(await getTogether(table, wanted.slice(start, start + mostKeys), attributes)));
  }
  return items;
}

const partsAtOnce = 4;

/**
 * Reads a long list by some calls at once. The order of the items says nothing, as for one call.
 * @param isConsistent false: at half the price, as the items were a moment ago
 */
export async function batchGetAtOnce(
  table: Table,
  wanted: readonly ItemKey[],
  attributes: readonly string[],
  isConsistent = true,
): Promise<Item[]> {
  const starts = Array.from({ length: Math.ceil(wanted.length / mostKeys) }, (_, part) => part * mostKeys);
  const items: Item[] = [];
  await inLanes(partsAtOnce, starts, async (start) => {
    items.push(
      ...(await getTogether(table, wanted.slice(start, start + mostKeys), attributes, isConsistent)),
    );
  });
  return items;
}

async function getTogether(
  table: Table,
  wanted: readonly ItemKey[],
  attributes: readonly string[] | undefined,
  isConsistent = true,
): Promise<Item[]> {
  const items: Item[] = [];
  let open: readonly Item[] = wanted;
  for (let attempt = 1; attempt <= unprocessedTries; attempt += 1) {
    const request = {
      RequestItems: { [table.name]: { Keys: [...open], ConsistentRead: isConsistent, ...only(attributes) } },
    };
    const answer = await sendRead(table, (options) =>
      table.client.send(new BatchGetCommand(request), options),
    );
    items.push(...(answer.Responses?.[table.name] ?? []));
    open = answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
    if (open.length === 0) return items;
    await table.clock.sleep(20 * 2 ** attempt);
  }
  throw new Overloaded('the read stayed unprocessed');
}

/** Every name is given by a placeholder, because some are reserved words of DynamoDB. */
function only(attributes: readonly string[] | undefined): object {
  if (!attributes) return {};
  return {
    ProjectionExpression: attributes.map((_, place) => `#a${place}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, place) => [`#a${place}`, name])),
  };
}
