/**
 * The definition of the machine that sends notices, made from that of the creation: its last two states, with
 * the same schedule of attempts.
 */

/** The parts of the definition that this file reads. */
interface Definition {
  readonly TimeoutSeconds: number;
  readonly States: Readonly<Record<'DeliverWebhook' | 'LeaveToReconciler', object>>;
}

/** @param plain the text of statemachines/creation.asl.json, which may hold substitutions */
export function noticeDefinition(plain: string): string {
  const { TimeoutSeconds, States: states } = JSON.parse(plain) as Definition;
  const { DeliverWebhook, LeaveToReconciler } = states;
  const definition = {
    Comment: 'One notice: sent to the address of its account until it is delivered.',
    StartAt: 'DeliverWebhook',
    TimeoutSeconds,
    States: { DeliverWebhook, LeaveToReconciler },
  };
  return JSON.stringify(definition, null, 2);
}
