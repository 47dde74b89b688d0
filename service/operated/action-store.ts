/** The log of what people did in the portal, and back ends by the operator API. A row is kept for 400 days. */
import { putItem, queryPage, updateItem } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import { dayAfter } from '../values/time.ts';

const keptSeconds = 400 * 86_400;

export function createActionLog(table: Table) {
  return {
    begin: (action: Action): Promise<void> =>
      putItem(table, {
        ...actionKey(action.scope, action.id),
        ...action,
        [ttlAttribute]: Math.floor(Date.parse(action.at) / 1000) + keptSeconds,
      }),
    end: async (
      { scope, id }: Action,
      ended: { readonly outcome: 'done' | 'refused'; readonly target?: string; readonly note?: string },
    ) => {
      const values = Object.entries(ended);
      await updateItem(table, actionKey(scope, id), {
        UpdateExpression: `SET ${values.map(([name]) => `#${name} = :${name}`).join(', ')}`,
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: Object.fromEntries(values.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(values.map(([name, value]) => [`:${name}`, value])),
      });
    },
    /** The newest first. @param after the id of the last row of the page before */
    list: async (
      scope: ActionScope,
      limit: number,
      after?: string,
      days?: ActionDays,
    ): Promise<ActionPage> => {
      const page = await queryPage(table, {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': partitionOf(scope) },
        // Times follow "ACTION#". "$" is the character after "#".
        range: {
          sort: 'sk',
          from: `ACTION#${days?.from ?? ''}`,
          to: days ? `ACTION#${dayAfter(days.to)}` : 'ACTION$',
        },
        ScanIndexForward: false,
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: actionKey(scope, after) }),
      });
      const actions = (page.Items ?? []).map(actionFromItem);
      const last = actions.at(-1);
      return { actions, ...(page.LastEvaluatedKey && last && { after: last.id }) };
    },
  };
}

/** Where an action is listed: in an account, or among the actions of the operator. */
export type ActionScope = AccountId | 'SERVICE';

/** The partition of what belongs to an account or to the operator. */
export function partitionOf(scope: ActionScope): string {
  return scope === 'SERVICE' ? keys.service().pk : keys.account(scope).pk;
}

/** @param id begins with the time of the action */
function actionKey(scope: ActionScope, id: string): ItemKey {
  return { pk: partitionOf(scope), sk: `ACTION#${id}` };
}

function actionFromItem(item: Item): Action {
  const { pk: _pk, sk: _sk, [ttlAttribute]: _ttl, ...action } = item;
  return action as unknown as Action;
}

export interface Action {
  readonly scope: ActionScope;
  /** The time in milliseconds and random text, so that ids sort by time. */
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  /** Absent when a back end did it. */
  readonly personId?: PersonId;
  readonly email: string;
  /** Whose request it was. Only in the operator's log. */
  readonly operatorKey?: { readonly id: string; readonly name: string };
  readonly action: string;
  readonly target?: string;
  /** 'begun': its end is unknown. */
  readonly outcome: 'begun' | 'done' | 'refused';
  readonly note?: string;
}

/** UTC days, both included. */
export interface ActionDays {
  readonly from: string;
  readonly to: string;
}

export interface ActionPage {
  readonly actions: readonly Action[];
  /** The id after which the next page begins. Absent on the last page. */
  readonly after?: string;
}
