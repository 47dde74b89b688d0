/** The rows of the log that a request of the operator API leaves. */
import type { ApiRequest } from '../api/request.ts';
import type { Action } from '../operated/action-store.ts';
import type { OperatorKey } from '../operated/operator-key.ts';
import type { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import type { OperatorServices } from './open.ts';

/** A GET leaves no row. */
export interface Journal {
  begin(scope: Action['scope'], note?: string): Promise<void>;
  /** Says in every row that began how the request ended. */
  end(how: Parameters<OperatorServices['actions']['end']>[1]): Promise<void>;
  /** Notes a refusal of a request whose operation did not begin. @returns the refusal */
  refused(problem: Problem): Promise<Problem>;
}

interface Asked {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
}

/** @param route absent: the request names no operation */
export function journalOf(
  { method }: Pick<ApiRequest, 'method'>,
  { name: action, params }: Asked = { name: 'unknownOperation', params: {} },
  { id, name }: OperatorKey,
  { actions, clock, log, randomBytes }: OperatorServices,
): Journal {
  const begun: Action[] = [];
  const target = params['account'] ?? params['payment'];
  const write = async (row: Pick<Action, 'scope' | 'outcome' | 'note'>): Promise<void> => {
    if (method === 'GET') return;
    const at = new Date(clock.now()).toISOString();
    const written: Action = {
      id: `${at}#${Buffer.from(randomBytes(6)).toString('base64url')}`,
      ...{ at, email: 'the operator', action },
      ...(row.scope === 'SERVICE' && {
        operatorKey: { id, name },
        ...(target !== undefined && { target }),
      }),
      ...row,
    };
    await actions.begin(written);
    begun.push(written);
  };
  return {
    begin: (scope, note) => write({ scope, outcome: 'begun', ...(note !== undefined && { note }) }),
    end: async (how) => {
      for (const row of begun) {
        await actions.end(row, how).catch((error: unknown) => {
          // The action stays done. The row still says that the action began.
          log.info('action_end_not_noted', { action, error: errorName(error) });
        });
      }
    },
    refused: async (problem) => {
      await write({ scope: 'SERVICE', outcome: 'refused', note: reasonOf(problem) });
      return problem;
    },
  };
}

export function reasonOf({ details, code }: Problem): string {
  const { reason } = details;
  return typeof reason === 'string' ? reason : code;
}
