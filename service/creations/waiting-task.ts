/** The task of the state machine that waits until its creation has ended. */
import type { TaskOutcome, Tasks } from '../aws/step-functions.ts';
import type { CreationId } from '../values/ids.ts';
import type { Log } from '../values/runtime.ts';
import type { CreationStore } from './creation-store.ts';

interface TaskServices {
  readonly tasks: Tasks;
  readonly log: Log;
}

/** Ends the task of a terminal creation. RenderImage writes its token before it reads the status. */
export async function endWaitingTask(
  id: CreationId,
  services: TaskServices & { readonly creations: Pick<CreationStore, 'taskToken'> },
): Promise<TaskOutcome> {
  const token = await services.creations.taskToken(id);
  return token === undefined ? 'settled' : endTask(token, id, services);
}

/** If the outcome is unclear, the heartbeat is lost after a minute, and the task runs again. */
export async function endTask(
  token: string,
  creationId: CreationId,
  { tasks, log }: TaskServices,
): Promise<TaskOutcome> {
  const outcome = await tasks.succeed(token, creationId);
  if (outcome !== 'ended') log.info('task_not_answered', { creationId, outcome });
  return outcome;
}
