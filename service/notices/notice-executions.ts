import type { SFNClient } from '@aws-sdk/client-sfn';
import { startOf, type StartOutcome } from '../aws/step-functions.ts';
import { executionName, type NoticeId } from '../values/ids.ts';

/** Starts executions of the machine that sends notices. @param signal as of createExecutions() */
export function createNoticeExecutions(client: SFNClient, stateMachineArn: string, signal?: AbortSignal) {
  const options = signal ? { abortSignal: signal } : {};
  return {
    /** Starts the nth execution of a notice. A repeated start is the same start. */
    start: async (id: NoticeId, number: number): Promise<StartOutcome> => {
      const input = JSON.stringify({ notice_id: id });
      const name = executionName(id, number);
      const { kind } = await startOf(client, { stateMachineArn, name, input }, options);
      return kind === 'running' || kind === 'exists' ? 'started' : kind;
    },
  };
}

export type NoticeExecutions = ReturnType<typeof createNoticeExecutions>;
