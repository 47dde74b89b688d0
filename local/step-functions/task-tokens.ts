/** The tokens of tasks that wait for SendTaskSuccess or SendTaskFailure, one for each attempt. */

/** The messages of SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat. */
export type TaskMessage =
  | { readonly kind: 'success'; readonly output: unknown }
  | { readonly kind: 'failure'; readonly error: string; readonly cause: string }
  | { readonly kind: 'heartbeat' };

/** The first end that was reported for a task. */
export type TaskEnd = Exclude<TaskMessage, { readonly kind: 'heartbeat' }>;

/** One attempt of a task, from the moment when its token is made. */
export interface WaitingTask {
  readonly token: string;
  /** The reported end of the task, kept until it is read. 'closed': the task ended otherwise. */
  readonly ended: Promise<TaskEnd | 'closed'>;
  /** Resolves at the next heartbeat. */
  readonly heartbeat: () => Promise<'heartbeat'>;
  /** From now on every call with the token is refused. */
  readonly close: () => void;
}

export interface TaskTokens {
  readonly open: (executionArn: string) => WaitingTask;
  /** False when the task has ended before. */
  readonly send: (token: string, message: TaskMessage) => boolean;
}

/** @param newId makes an id that no other token has, not even one of an earlier process */
export function createTaskTokens(newId: () => string): TaskTokens {
  const open = new Map<string, (message: TaskMessage) => void>();
  return {
    open: (executionArn) => {
      const token = tokenOf(executionArn, newId());
      const ended = Promise.withResolvers<TaskEnd | 'closed'>();
      let beat = Promise.withResolvers<'heartbeat'>();
      open.set(token, (message) => {
        if (message.kind === 'heartbeat') {
          beat.resolve('heartbeat');
          beat = Promise.withResolvers();
          return;
        }
        open.delete(token);
        ended.resolve(message);
      });
      return {
        token,
        ended: ended.promise,
        heartbeat: () => beat.promise,
        close: () => {
          open.delete(token);
          ended.resolve('closed');
        },
      };
    },
    send: (token, message) => {
      const tell = open.get(token);
      tell?.(message);
      return tell !== undefined;
    },
  };
}

/** A token of AWS has about 600 characters. The length counts where the service stores a token. */
const tokenBytes = 450;

function tokenOf(executionArn: string, id: string): string {
  return Buffer.from(JSON.stringify([executionArn, id]).padEnd(tokenBytes)).toString('base64');
}

/** The execution that a token belongs to. Undefined for a text that is no token. */
export function executionOfToken(token: string): string | undefined {
  try {
    const [arn, id] = JSON.parse(Buffer.from(token, 'base64').toString()) as unknown[];
    return typeof arn === 'string' && typeof id === 'string' && tokenOf(arn, id) === token ? arn : undefined;
  } catch {
    return undefined;
  }
}
