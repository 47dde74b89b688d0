import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createTasks } from '../../adapters/step-functions-tasks.ts';
import type { Log } from '../../core/ports/runtime.ts';
import type { Tasks } from '../../core/ports/tasks.ts';

/** @param signal of the request's time, where there is a request */
export function tasks(log: Log, signal?: AbortSignal): Tasks {
  return createTasks(new SFNClient(callLimits()), {
    onDefect: (error) => log.alarm('task_not_ended', { error }),
    ...(signal && { signal }),
  });
}
