/** The assumptions that only an account of AWS can settle: what the docs say, and what was seen. */
import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { OperatorError } from '../operator-error.ts';
import { SmokeError } from '../smoke/client.ts';

export type Verdict = 'as assumed' | 'differs' | 'not seen' | 'could not ask';

export interface EvidenceRow {
  readonly assumption: string;
  readonly assumed: string;
  readonly seen: string;
  readonly verdict: Verdict;
}

/** A row whose fact was seen, or was not (then `seen` says why). */
function row(assumption: string, assumed: string, seen: string, isSo: boolean | undefined): EvidenceRow {
  const verdict = isSo === undefined ? 'not seen' : isSo ? 'as assumed' : 'differs';
  return { assumption, assumed, seen, verdict };
}

export interface Counted {
  /** State transitions of the account. Undefined: CloudWatch returned no number in time. */
  readonly transitions: number | undefined;
  /** Executions that the machines of the service started in the same time. */
  readonly executions: number;
}

/** Other state machines of the account count, too, so the command asks for a quiet time. */
export function transitionsRow(what: string, counted: Counted | string): EvidenceRow {
  const assumption = `state transitions of ${what}`;
  if (typeof counted === 'string') return row(assumption, '1', counted, undefined);
  const { transitions, executions } = counted;
  if (transitions === undefined || executions === 0)
    return row(assumption, '1', 'CloudWatch had no values yet', undefined);
  const each = transitions / executions;
  return row(
    assumption,
    '1',
    `${Number(each.toFixed(2))} (${transitions} of ${executions} executions)`,
    Math.abs(each - 1) < 0.02,
  );
}

/** How often a Task is begun, waits and ends, from the history of an execution of the callback machine. */
interface Attempt {
  readonly token: string;
  readonly scheduled: number;
  submitted?: number;
  ended?: { readonly type: string; readonly at: number };
}

const ends = new Set(['TaskSucceeded', 'TaskFailed', 'TaskTimedOut']);

export function attemptsIn(history: readonly HistoryEvent[]): readonly Attempt[] {
  const attempts: Attempt[] = [];
  for (const { type = '', timestamp, taskScheduledEventDetails: details } of history) {
    const at = timestamp?.getTime() ?? 0;
    const last = attempts.at(-1);
    const token = /"task_token":"([^"]+)"/.exec(details?.parameters ?? '')?.[1];
    if (type === 'TaskScheduled' && token !== undefined) attempts.push({ token, scheduled: at });
    else if (last && type === 'TaskSubmitted') last.submitted = at;
    else if (last && ends.has(type)) last.ended ??= { type, at };
  }
  return attempts;
}

/** The execution had one failed attempt at least, and a token that ended while its function still ran. */
export function tokenRows(attempts: readonly Attempt[]): readonly EvidenceRow[] {
  const tokens = attempts.map(({ token }) => token);
  const length = Math.max(0, ...tokens.map((token) => token.length));
  const last = attempts.at(-1)?.ended?.type;
  return [
    row(
      'token of an attempt after a failure',
      'a new one',
      tokens.length < 2 ? 'no attempt failed' : new Set(tokens).size > 1 ? 'a new one' : 'the same',
      tokens.length < 2 ? undefined : new Set(tokens).size === tokens.length,
    ),
    row(
      'length of a task token',
      'at most 1,000 characters',
      length === 0 ? 'the history has none' : `${length} characters`,
      length === 0 ? undefined : length <= 1_000,
    ),
    row(
      'an end that is sent while the function runs',
      'is kept',
      last === 'TaskSucceeded' ? 'is kept' : `the Task ended with ${last ?? 'nothing'}`,
      last === undefined ? undefined : last === 'TaskSucceeded' && !attempts.some(wasLost),
    ),
  ];
}

export function secondEndRow(refusal: string | undefined): EvidenceRow {
  const seen = refusal ?? 'accepted';
  return row('a second end of a task', 'is refused as TaskTimedOut', seen, seen === 'TaskTimedOut');
}

const wasLost = ({ ended }: Attempt): boolean => ended?.type === 'TaskTimedOut';

/** A timer of Step Functions may be late by about a second, and is never early. */
const slackMillis = 1_500;
/** The clocks of two events differ by less. */
const clockMillis = 300;
/** Beyond this time the renderer has sent a heartbeat. */
const quietMillis = 20_000;

/** @param attempts of executions that may have lost a heartbeat */
export function heartbeatRow(attempts: readonly Attempt[], heartbeatMillis: number): EvidenceRow {
  const assumption = 'first heartbeat of a waiting task';
  const assumed = 'counts from the start of the task';
  const lost = attempts.filter(wasLost).flatMap(({ scheduled, submitted = scheduled, ended }) => {
    const millis = (ended?.at ?? 0) - scheduled;
    const invocation = submitted - scheduled;
    return invocation < quietMillis ? [{ millis, invocation, late: millis - heartbeatMillis }] : [];
  });
  if (lost.length === 0) return row(assumption, assumed, 'no callback was lost', undefined);
  const strange = lost.find(({ late, invocation }) => late < -slackMillis || late > invocation + slackMillis);
  if (strange)
    return row(assumption, assumed, `ended ${Math.round(strange.millis / 1_000)} s after the start`, false);
  // Such an end comes too early for a heartbeat that counts from the end of the invocation.
  if (lost.some(({ late, invocation }) => late < invocation - clockMillis))
    return row(assumption, assumed, assumed, true);
  return lost.some(({ invocation }) => invocation > 2 * slackMillis)
    ? row(assumption, assumed, 'counts from the end of the invocation', false)
    : row(assumption, assumed, 'the invocations were too short to tell', undefined);
}

/** The times of the first and the last byte since the request. */
export function streamRow(first: number, last: number): EvidenceRow {
  return row(
    'a stream through the REST API',
    'the first byte comes long before the last',
    `first byte after ${Math.round(first)} ms, last after ${Math.round(last)} ms`,
    first < last / 2,
  );
}

/** Under which name the challenge of a 401 arrives. */
export function challengeRow(api: string, assumed: string, headers: Headers): EvidenceRow {
  const found = ['www-authenticate', 'x-amzn-remapped-www-authenticate'].filter((name) => headers.has(name));
  const seen = found.length === 0 ? 'no such header' : found.join(' and ');
  return row(`challenge of a 401 of the ${api}`, assumed, seen, seen === assumed);
}

/** Undefined: the stack has no firewall before its REST APIs. */
export function firewallRow(answer: { readonly status: number; readonly text: string } | undefined) {
  const [assumption, assumed] = ['a refusal by the firewall', '403 with the code request_blocked'];
  if (!answer) return row(assumption, assumed, 'webAclArn is not set', undefined);
  const { status, text } = answer;
  const isOurs = text.includes('request_blocked');
  // A web ACL without a rule for such a request lets it through to our own answer.
  if (status === 401 || status === 404)
    return row(assumption, assumed, 'no rule refuses ../../etc/passwd', undefined);
  return row(
    assumption,
    assumed,
    `${status} ${isOurs ? 'with' : 'without'} the code request_blocked`,
    status === 403 && isOurs,
  );
}

export interface Report {
  readonly fn: string;
  readonly duration: number;
  readonly billed: number;
  /** Only of a cold start. */
  readonly init: number | undefined;
}

/** The milliseconds of a line that Lambda writes after each invocation. Undefined: another line. */
export function reportIn(fn: string, line: string): Report | undefined {
  if (!line.startsWith('REPORT ')) return undefined;
  const millis = (name: string): number | undefined => {
    const text = new RegExp(`(?:^|\\t)${name}: ([\\d.]+) ms`).exec(line)?.[1];
    return text === undefined ? undefined : Number(text);
  };
  const [duration, billed] = [millis('Duration'), millis('Billed Duration')];
  if (duration === undefined || billed === undefined) return undefined;
  return { fn, duration, billed, init: millis('Init Duration') };
}

/** More than this, and docs/cost.md counts too little for cold starts. */
const longestInitMillis = 1_000;

export function coldStartRows(reports: readonly Report[]): readonly EvidenceRow[] {
  const cold = reports.filter(({ init }) => init !== undefined);
  const isBilled = cold.map(({ duration, billed, init = 0 }) => billed >= duration + init - 1);
  const longest = Map.groupBy(cold, ({ fn }) => fn);
  const inits = [...longest].map(([fn, own]): [string, number] => [
    fn,
    Math.max(...own.map(({ init = 0 }) => init)),
  ]);
  const none = 'no cold start was seen: run the command right after a deployment';
  return [
    row(
      'INIT of a cold start',
      'is in the billed duration',
      cold.length === 0 ? none : `billed in ${isBilled.filter(Boolean).length} of ${cold.length} cold starts`,
      cold.length === 0 ? undefined : isBilled.every(Boolean),
    ),
    row(
      'duration of INIT',
      `at most ${longestInitMillis.toLocaleString('en')} ms`,
      cold.length === 0 ? none : inits.map(([fn, millis]) => `${fn} ${Math.round(millis)} ms`).join(', '),
      cold.length === 0 ? undefined : inits.every(([, millis]) => millis <= longestInitMillis),
    ),
  ];
}

/** What AWS did not answer, and why. */
export function unansweredRow(assumption: string, error: unknown): EvidenceRow {
  const isOurs = error instanceof OperatorError || error instanceof SmokeError;
  // The message of another error may hold an ARN.
  const seen = isOurs ? error.message : error instanceof Error ? error.name : String(error);
  return { assumption, assumed: 'an answer', seen, verdict: 'could not ask' };
}

/** The milliseconds that a function is billed when it runs warm. */
export function billedRow(fn: string, reports: readonly Report[], most: number): EvidenceRow {
  const warm = reports.filter((report) => report.fn === fn && report.init === undefined);
  const billed = warm.map((report) => report.billed);
  return timeRow(`billed time of ${fn}, warm`, billed, most, 'no warm invocation was seen');
}

/** `most` are the milliseconds up to which the fact is as assumed. */
export function timeRow(what: string, millis: readonly number[], most: number, none: string): EvidenceRow {
  const sorted = [...millis].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  return row(
    what,
    `at most ${most.toLocaleString('en')} ms`,
    median === undefined ? none : `${Math.round(median)} ms (median of ${sorted.length})`,
    median === undefined ? undefined : median <= most,
  );
}
