/**
 * The invocation of a function by a Task of the state machine, with the faults between Step Functions and
 * Lambda.
 */
import { AwsError } from '../../../local/aws/aws-error.ts';
import type { InvocationResult } from '../../../local/lambda/messages.ts';
import type { World } from '../world/simulated-world.ts';

/** `run` invokes the function of the state. */
export async function invokeTask(
  world: World,
  state: string,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> {
  const asked = world.call({ service: 'task', operation: 'invoke', target: state }, (fault) => fault);
  const fault = await asked.catch((error: unknown) => {
    if (error instanceof AwsError) return 'error' as const;
    throw error;
  });
  switch (fault) {
    case 'error':
      return failed('Lambda.ServiceException');
    case 'no_room':
      return failed('Lambda.TooManyRequestsException');
    case 'twice':
      return Promise.race([run(), run()]);
    case 'unheard':
      void run();
      return failed('Lambda.Unknown');
    default:
      return run();
  }
}

function failed(errorType: string): InvocationResult {
  return { ok: false, error: { errorType, errorMessage: 'simulated' } };
}
