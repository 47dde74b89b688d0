import { createTasks } from '../../adapters/step-functions-tasks.ts';
import type { Log } from '../../core/ports/runtime.ts';
import type { Tasks } from '../../core/ports/tasks.ts';
import type { Platform } from './platform.ts';

/** @param signal of the request's time, where there is a request */
export function tasksOf({ states }: Pick<Platform, 'states'>, log: Log, signal?: AbortSignal): Tasks {
  return createTasks(states, {
    onDefect: (error) => log.alarm('task_not_ended', { error }),
    ...(signal && { signal }),
  });
}
