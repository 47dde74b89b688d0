import { SendTaskFailureCommand, SendTaskSuccessCommand, type SFNClient } from '@aws-sdk/client-sfn';
import type { Tasks, TaskEnd } from '../core/ports/tasks.ts';
export function createTasks(client: SFNClient): Tasks {
  const end = async (call: () => Promise<unknown>): Promise<TaskEnd> => {
    try {
      await call();
      return 'ended';
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      return name === 'TaskTimedOut' || name === 'TaskDoesNotExist' ? 'settled' : 'unclear';
    }
  };
  return {
    succeed: async (taskToken, id) =>
      end(() =>
        client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify({ creation_id: id }) })),
      ),
    fail: async (taskToken, error) =>
      end(() => client.send(new SendTaskFailureCommand({ taskToken, error }))),
  };
}
