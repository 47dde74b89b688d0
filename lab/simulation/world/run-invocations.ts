/** Runs functions and operator's commands, each within its time limit. */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { InvocationResult } from '../../../local/lambda/messages.ts';
import type { Environments } from '../aws/lambda-environments.ts';
import type { Invocation, RunWork, World } from './simulated-world.ts';

export interface InvocationRunner {
  /** Runs a function in an environment of Lambda. */
  readonly invoke: RunWork;
  /** Runs an operator's command, which has a process of its own instead of an environment. */
  readonly command: RunWork;
}

export function createInvocationRunner(
  world: () => World,
  storage: AsyncLocalStorage<Invocation>,
  environments: Environments<Invocation>,
): InvocationRunner {
  let invocations = 0;

  function begin(
    hasEnvironment: boolean,
    ...[name, limitMillis, work]: Parameters<RunWork>
  ): Promise<InvocationResult> {
    const { time, clocks, live, note, onEnded } = world();
    return new Promise((resolve) => {
      invocations += 1;
      const id = `${name}#${invocations}`;
      const end = (result: InvocationResult, survives: boolean): void => {
        if (invocation.hasAnswered || invocation.dead) return;
        invocation.hasAnswered = true;
        live.delete(invocation);
        stopLimit();
        note(`${id} ${result.ok ? 'ends' : `fails ${result.error.errorType}`}`);
        if (survives) environments.freeze(invocation);
        else environments.destroy(invocation);
        onEnded(invocation, result.ok ? undefined : result.error.errorType);
        resolve(result);
      };
      const fail = (errorType: string, errorMessage: string, survives: boolean): void =>
        end({ ok: false, error: { errorType, errorMessage } }, survives);
      const invocation: Invocation = {
        id,
        name,
        startedAt: time.now(),
        skew: clocks.environmentSkew(name, id),
        dead: false,
        hasAnswered: false,
        faulted: false,
        faults: [],
        die: (errorType) => {
          if (invocation.dead) return;
          // After its answer its work runs inside a later invocation of the environment, which dies with it.
          const host = invocation.hasAnswered ? environments.hostOf(invocation) : undefined;
          host?.faults.push(...invocation.faults);
          if (invocation.hasAnswered) host?.die(errorType);
          else fail(errorType, 'the invocation ended', false);
        },
      };
      const stopLimit = time.after(limitMillis, () => {
        invocation.die('Sandbox.Timedout');
      });
      live.add(invocation);
      if (hasEnvironment) environments.enter(invocation);
      note(`${id} begins`);
      storage.run(invocation, () => {
        work(id).then(
          (payload) => end({ ok: true, payload: asJson(payload) }, hasEnvironment),
          (error: unknown) =>
            error instanceof Error
              ? fail(error.name, error.message, hasEnvironment)
              : fail('Error', String(error), hasEnvironment),
        );
      });
    });
  }

  return {
    invoke: (...run) => world().outside(() => begin(true, ...run)),
    command: (...run) => world().outside(() => begin(false, ...run)),
  };
}

/** A payload as it arrives at the caller of a function. */
function asJson(payload: unknown): unknown {
  return payload === undefined ? null : JSON.parse(JSON.stringify(payload));
}
