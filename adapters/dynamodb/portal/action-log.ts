/** The log of what people did in the portal. A row is kept for 400 days. */
import type { Action, ActionLog } from '../../../core/ports/actions.ts';
import { partitionOf, portalKeys } from './portal-keys.ts';
import { putItem, queryPage, updateItem } from '../send.ts';
import { ttlAttribute, type Item, type Table } from '../table.ts';

const keptSeconds = 400 * 86_400;

export function createActionLog(table: Table): ActionLog {
  return {
    begin: (action) =>
      putItem(table, {
        ...portalKeys.action(action.scope, action.id),
        ...action,
        [ttlAttribute]: Math.floor(Date.parse(action.at) / 1000) + keptSeconds,
      }),
    end: async ({ scope, id }, ended) => {
      const values = Object.entries(ended);
      await updateItem(table, portalKeys.action(scope, id), {
        UpdateExpression: `SET ${values.map(([name]) => `#${name} = :${name}`).join(', ')}`,
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: Object.fromEntries(values.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(values.map(([name, value]) => [`:${name}`, value])),
      });
    },
    list: async (scope, limit, after) => {
      const page = await queryPage(table, {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
        ExpressionAttributeValues: { ':pk': partitionOf(scope), ':beginning': 'ACTION#' },
        ScanIndexForward: false,
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: portalKeys.action(scope, after) }),
      });
      const actions = (page.Items ?? []).map(actionFromItem);
      const last = actions.at(-1);
      return { actions, ...(page.LastEvaluatedKey && last && { after: last.id }) };
    },
  };
}

function actionFromItem(item: Item): Action {
  const { pk: _pk, sk: _sk, [ttlAttribute]: _ttl, ...action } = item;
  return action as unknown as Action;
}
