/**
 * The steps of mishaps: executions that somebody aborts, redrives or starts again, and clocks that are moved.
 */
import type { Execution } from '../aws/step-functions.ts';
import { monthsEnd, type Step } from './scenario.ts';
import type { Stage } from './stage.ts';

export interface MishapSteps {
  /** Aborts, redrives or starts again one execution of the world. */
  readonly disturbExecution: (step: Step) => Promise<void>;
  /** Counts a clock step under its name. */
  readonly noteClock: (name: string) => void;
}

export function createMishapSteps({ world, service }: Stage): MishapSteps {
  const { dice } = world;

  async function disturbExecution(step: Step): Promise<void> {
    const executions = [...service.stepFunctions.executions.values()];
    const one = executions[dice.between(`which ${step.at}`, 0, Math.max(0, executions.length - 1))];
    if (!one) return;
    if (step.kind === 'abort' && one.status === 'RUNNING') {
      world.mishap('execution aborted');
      service.stepFunctions.abort(one);
      if (!dice.chance(`redriven ${step.at}`, 0.4)) return;
      // Until then the reconciler has mostly taken up the creation, and often brought it to its end.
      await world.sleep(dice.between(`redriven after ${step.at}`, 100, 90_000));
      redrive(one);
    } else if (step.kind === 'redrive') redrive(one);
    else if (step.kind === 'restart') {
      world.mishap('execution started again');
      service.stepFunctions.perform('StartExecution', {
        stateMachineArn: one.machineArn,
        name: `${one.name}-again-${step.at}`,
        input: one.input,
      });
    }
  }

  /** Step Functions redrives only executions that have ended without success. */
  function redrive(execution: Execution): void {
    if (execution.status === 'RUNNING' || execution.status === 'SUCCEEDED') return;
    world.mishap('redrive after the end');
    service.stepFunctions.redrive(execution);
  }

  /**
   * Steps close to the turn of a month have a name of their own: there a wrong clock can charge the wrong
   * month.
   */
  function noteClock(name: string): void {
    const toTurn = Math.abs(world.time.now() - monthsEnd);
    world.mishap(toTurn < 60_000 ? `${name} within a minute of the month’s turn` : name);
  }

  return { disturbExecution, noteClock };
}
