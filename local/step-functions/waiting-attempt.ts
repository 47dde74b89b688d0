/** One attempt of a task that waits for its token: the invocation of the function, then the wait. */
import { StateMachine } from 'aws-local-stepfunctions';
import type { TaskEnd, WaitingTask } from './task-tokens.ts';

/** The time limits of a task that waits for its token. */
export interface WaitingLimits {
  /** The whole attempt. */
  readonly timeoutSeconds: number;
  /**
   * From the start of the attempt, and from each heartbeat, to the next heartbeat. AWS may start the time at the end
   * of the invocation. Nothing confirms that, so this choice is the strict one.
   */
  readonly heartbeatSeconds: number | undefined;
}

/**
 * Runs one attempt. An error of the invocation ends it at once. An end that was reported during the
 * invocation is kept until the invocation has ended. Rejects with States.Timeout when a time limit has
 * passed. 'closed': the execution ended first.
 */
export async function runWaitingAttempt(
  task: WaitingTask,
  { timeoutSeconds, heartbeatSeconds }: WaitingLimits,
  invoke: () => Promise<unknown>,
): Promise<TaskEnd | 'closed'> {
  try {
    return await withinSeconds(timeoutSeconds, async () => {
      const invoked = invoke();
      const broken = invoked.then(() => new Promise<never>(() => undefined));
      for (;;) {
        const wait = async (): Promise<TaskEnd | 'closed' | 'heartbeat'> =>
          Promise.race([task.ended, task.heartbeat(), broken]);
        const heard =
          heartbeatSeconds === undefined ? await wait() : await withinSeconds(heartbeatSeconds, wait);
        if (heard === 'heartbeat') continue;
        await invoked;
        return heard;
      }
    });
  } finally {
    task.close();
  }
}

/**
 * Runs work as the only task of a machine of its own. The library does not export its error of a time-out,
 * and States.TaskFailed matches every error but that one. So the library has to throw it.
 */
async function withinSeconds<Value>(seconds: number, work: () => Promise<Value>): Promise<Value> {
  let value: Promise<Value> | undefined;
  const { result } = timerOf(seconds).run(null, {
    overrides: {
      taskResourceLocalHandlers: {
        Wait: async () => {
          value = work();
          await value;
          return null;
        },
      },
    },
  });
  try {
    await result;
  } catch (error) {
    throw error instanceof Error ? (error.cause ?? error) : error;
  }
  if (value === undefined) throw new Error('the work did not begin');
  return value;
}

const timers = new Map<number, StateMachine>();

function timerOf(seconds: number): StateMachine {
  const known = timers.get(seconds);
  if (known !== undefined) return known;
  const made = new StateMachine(
    {
      StartAt: 'Wait',
      States: { Wait: { Type: 'Task', Resource: 'wait', TimeoutSeconds: seconds, End: true } },
    },
    { validationOptions: { noValidate: true } },
  );
  timers.set(seconds, made);
  return made;
}
