/**
 * The definitions of the three machines. In that of callbacks only the state RenderImage differs: its Task waits, at
 * no cost, until it is ended with its token.
 */
import { readFileSync } from 'node:fs';
import { webhookSchedule } from '../service/contract/limits.ts';
import { heartbeatSeconds } from '../service/creations/machines.ts';

const file = new URL('../statemachines/creation.asl.json', import.meta.url);
/** Where the figures belong. JSON has no comments, so the value names the file that has them. */
const scheduleOfWebhooks = '"${WebhookSchedule}": "service/contract/limits.ts"';

/** The plain machine: statemachines/creation.asl.json with the schedule of webhooks, and with substitutions. */
export function creationDefinition(): string {
  const { firstWaitSeconds, backoffRate, retries } = webhookSchedule;
  const figures = `"IntervalSeconds": ${firstWaitSeconds}, "BackoffRate": ${backoffRate}, "MaxAttempts": ${retries}`;
  return readFileSync(file, 'utf8').replace(scheduleOfWebhooks, figures);
}

/** The functions that a definition names: ${RefundChargeArn} stands for RefundCharge. */
export function functionsOf(text: string): string[] {
  return [...new Set(text.match(/(?<=\$\{)\w+(?=Arn\})/g))];
}

/** The parts of the definition that this file reads. */
interface Definition {
  readonly States: Readonly<Record<string, object>> & { readonly RenderImage: RenderState };
}

interface RenderState {
  readonly Comment: string;
  readonly Parameters: Readonly<Record<string, unknown>>;
  readonly Retry: readonly object[];
  readonly OutputPath: string;
}

/** A time-out of Step Functions. A lost heartbeat is States.Timeout in the history; AWS documents both names. */
const timeOuts = ['States.Timeout', 'States.HeartbeatTimeout'];

/** More than the longest invocation of a renderer, 780 s, and a heartbeat. */
const timeoutSeconds = 900;
/** A retry each minute lasts longer than the longest deadline of a creation, 12 minutes. */
const heartbeatRetries = 15;
/** As many as routes can end. A model of the catalog has fewer routes. */
const routeRetries = 10;

/** @param plain the text of creationDefinition(), which may hold substitutions */
export function callbackDefinition(plain: string): string {
  const { States: states, ...machine } = JSON.parse(plain) as Definition;
  const { OutputPath: _outputPath, Retry, Parameters, Comment, ...rest } = states.RenderImage;
  const RenderImage = {
    ...rest,
    Comment: `${Comment} The Task ends with SendTaskSuccess, or with SendTaskFailure when a route has ended.`,
    Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
    Parameters: {
      ...Parameters,
      'Payload.$': undefined,
      // The version stays inside of the input, because a path to it fails when an older release started.
      Payload: { 'creation_id.$': '$.creation_id', 'task_token.$': '$$.Task.Token', 'input.$': '$' },
    },
    HeartbeatSeconds: heartbeatSeconds,
    TimeoutSeconds: timeoutSeconds,
    Retry: [
      { ErrorEquals: timeOuts, IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: heartbeatRetries },
      { ErrorEquals: ['RouteEnded'], IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: routeRetries },
      ...Retry,
    ],
  };
  return JSON.stringify({ ...machine, States: { ...states, RenderImage } }, null, 2);
}

/** The parts of the definition that this file reads. */
interface LastStates {
  readonly TimeoutSeconds: number;
  readonly States: Readonly<Record<'DeliverWebhook' | 'LeaveToReconciler', object>>;
}

/**
 * The machine that sends notices: the last two states of a creation's machine.
 * @param plain the text of creationDefinition(), which may hold substitutions
 */
export function noticeDefinition(plain: string): string {
  const { TimeoutSeconds, States: states } = JSON.parse(plain) as LastStates;
  const { DeliverWebhook, LeaveToReconciler } = states;
  const definition = {
    Comment: 'One notice: sent to the address of its account until it is delivered.',
    StartAt: 'DeliverWebhook',
    TimeoutSeconds,
    States: { DeliverWebhook, LeaveToReconciler },
  };
  return JSON.stringify(definition, null, 2);
}
