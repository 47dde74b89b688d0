import type { SFNClient } from '@aws-sdk/client-sfn';
import { startOf } from '../aws/step-functions.ts';
import { executionName } from '../values/ids.ts';
import type { NoticeExecutions } from './notice-store.ts';

/**
 * Starts executions of the machine that sends notices.
 * @param signal as of createExecutions()
 */
export function createNoticeExecutions(
  client: SFNClient,
  stateMachineArn: string,
  signal?: AbortSignal,
): NoticeExecutions {
  const options = signal ? { abortSignal: signal } : {};
  return {
    start: async (id, number) => {
      const input = JSON.stringify({ notice_id: id });
      const name = executionName(id, number);
      const { kind } = await startOf(client, { stateMachineArn, name, input }, options);
      return kind === 'running' || kind === 'exists' ? 'started' : kind;
    },
  };
}
