/** The task of the state machine that waits until its creation has ended. */
import type { TaskOutcome, Tasks } from '../aws/step-functions.ts';
import type { CreationId } from '../values/ids.ts';
import type { Log } from '../values/runtime.ts';
import type { CreationStore } from './creation-store.ts';

interface WakeServices {
  readonly tasks: Tasks;
  readonly log: Log;
  readonly creations: Pick<CreationStore, 'taskToken'>;
}

/** Lets RenderImage run again for a creation that has ended: it sends the webhook, and then the execution ends. */
export async function wakeRenderer(id: CreationId, services: WakeServices): Promise<TaskOutcome> {
  // RenderImage writes its token before it reads the status.
  const token = await services.creations.taskToken(id);
  if (token === undefined) return 'settled';
  return noteAnswer(services.tasks.fail(token, 'RouteEnded'), id, services);
}

/** If the outcome is unclear, the heartbeat is lost after a minute, and the task runs again. */
export async function noteAnswer(
  call: Promise<TaskOutcome>,
  creationId: CreationId,
  { log }: Pick<WakeServices, 'log'>,
): Promise<TaskOutcome> {
  const outcome = await call;
  if (outcome !== 'ended') log.info('task_not_answered', { creationId, outcome });
  return outcome;
}
