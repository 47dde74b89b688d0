/** Orders pictures of the sandbox, and reads in AWS what they took. */
import { randomUUID } from 'node:crypto';
import { SendTaskSuccessCommand, type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { canaryModel } from '../../service/canary/canary-account.ts';
import { type CreationRecord, isTerminal } from '../../service/creations/creation.ts';
import { heartbeatSeconds } from '../../service/creations/machines.ts';
import { type CreationId, parseCreationId } from '../../service/values/ids.ts';
import { createAccount } from '../commands/accounts.ts';
import { issueKey } from '../commands/keys.ts';
import { issueSecret } from '../commands/webhooks.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { createSmokeClient, type SmokeClient } from '../smoke/client.ts';
import { said } from '../smoke/steps.ts';
import { type AskStack, createAskStack, type StackAccess, type Window } from './ask-stack.ts';
import {
  attemptsIn,
  billedRow,
  challengeRow,
  coldStartRows,
  type Counted,
  type EvidenceRow,
  firewallRow,
  heartbeatRow,
  reportIn,
  secondEndRow,
  streamRow,
  timeRow,
  tokenRows,
  transitionsRow,
  unansweredRow,
} from './rows.ts';

export interface EvidenceOptions {
  /** How many pictures each count of transitions takes. */
  readonly creations: number;
  /** A receiver that answers 2xx. Absent: successes with a webhook are not counted. */
  readonly webhookUrl: string | undefined;
  /** CloudWatch has one value a minute. */
  readonly windowMillis: number;
  /** How long metrics and logs may take. */
  readonly waitMillis: number;
}

type Tell = (line: string) => void;

interface Run extends EvidenceOptions {
  readonly services: OperatorServices;
  readonly ask: AskStack;
  readonly began: number;
  readonly key: string;
  readonly api: SmokeClient;
  readonly tell: Tell;
}

/** Throws OperatorError for a service of one machine. */
export function deployedOf({ deployed }: OperatorServices): StackAccess {
  if (!deployed) throw new OperatorError('The evidence is about AWS: name a deployed stack with --stack.');
  return deployed;
}

/** Makes an account for the sandbox, and disables it in the end. Throws OperatorError. */
export async function gatherEvidence(
  services: OperatorServices,
  options: EvidenceOptions,
  tell: Tell,
): Promise<readonly EvidenceRow[]> {
  const deployed = deployedOf(services);
  const { apiUrl } = services;
  const began = services.clock.now();
  const account = await createAccount(services, { name: 'Evidence', balance: '5', sandbox: 'yes' });
  try {
    const { key } = await issueKey(services, account, { name: 'evidence', models: canaryModel });
    if (options.webhookUrl !== undefined) await issueSecret(services, account);
    const run: Run = {
      ...options,
      services,
      ask: createAskStack(deployed),
      began,
      key,
      api: createSmokeClient(apiUrl, key),
      tell,
    };
    const resources = await run.ask.resources();
    const parts: readonly [what: string, work: () => Promise<readonly EvidenceRow[]>][] = [
      ['streams and refusals', () => doorRows(run, [...resources.values()])],
      ['state transitions', () => countedRows(run)],
      ['tasks that wait', () => taskRows(run)],
      ['heartbeats', () => lostHeartbeats(run)],
      ['invocations and times', () => loggedRows(run, logGroupsIn(resources))],
    ];
    const rows: EvidenceRow[] = [];
    for (const [what, work] of parts)
      rows.push(...(await work().catch((error: unknown) => [unansweredRow(what, error)])));
    return rows;
  } finally {
    await services.accounts.change(account.id, { condition: 'disabled' });
  }
}

/** How the gateways treat answers. */
async function doorRows(
  { services, key, tell }: Run,
  resources: readonly { readonly type: string }[],
): Promise<readonly EvidenceRow[]> {
  const { openaiUrl } = services;
  tell('Asking the APIs …');
  const stranger = 'dk_live_of_nobody';
  const refused = await createSmokeClient(services.apiUrl, stranger).send('/models');
  const refusedStream = await createSmokeClient(openaiUrl, stranger).send('/models');
  const hasFirewall = resources.some(({ type }) => type === 'AWS::WAFv2::WebACLAssociation');
  const attack = hasFirewall ? await fetch(`${openaiUrl}/models?file=../../etc/passwd`) : undefined;
  return [
    await streamed(openaiUrl, key),
    challengeRow('HTTP API', 'www-authenticate', refused.headers),
    challengeRow('REST API', 'x-amzn-remapped-www-authenticate', refusedStream.headers),
    firewallRow(attack && { status: attack.status, text: await attack.text() }),
  ];
}

async function streamed(openaiUrl: string, key: string): Promise<EvidenceRow> {
  const sent = performance.now();
  const response = await fetch(`${openaiUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: canaryModel, prompt: 'a stream [sandbox:delay=3s]', stream: true }),
    signal: AbortSignal.timeout(60_000),
  });
  let first: number | undefined;
  for await (const _part of response.body ?? []) first ??= performance.now() - sent;
  const last = performance.now() - sent;
  if (!response.ok) throw new OperatorError(`The stream was answered ${response.status}.`);
  return streamRow(first ?? last, last);
}

/** The transitions of successes, each kind in a minute of its own. */
async function countedRows(run: Run): Promise<readonly EvidenceRow[]> {
  const { webhookUrl, tell, creations } = run;
  tell(`Ordering ${creations} pictures within one minute of CloudWatch …`);
  const plain = await inWindow(run, undefined);
  if (webhookUrl !== undefined) tell(`Ordering ${creations} more with a webhook …`);
  const withWebhook = webhookUrl === undefined ? undefined : await inWindow(run, webhookUrl);
  tell('Waiting for the metrics of Step Functions, for some minutes …');
  return [
    transitionsRow('a success', await counted(run, plain)),
    transitionsRow(
      'a success with a webhook',
      withWebhook ? await counted(run, withWebhook) : 'not asked: name a receiver with --webhook',
    ),
  ];
}

async function inWindow(run: Run, webhookUrl: string | undefined): Promise<Window> {
  const { windowMillis, creations, services } = run;
  const { clock } = services;
  const nextWindow = async (): Promise<number> => {
    const next = clock.now() - (clock.now() % windowMillis) + windowMillis;
    // A timer may fire a little early.
    while (clock.now() < next) await clock.sleep(next - clock.now());
    return next;
  };
  const from = await nextWindow();
  const ids: CreationId[] = [];
  for (let count = 0; count < creations; count += 1)
    ids.push(await order(run, `evidence ${count}`, webhookUrl));
  for (const id of ids) await ended(run, id);
  return { from, to: await nextWindow() };
}

async function order({ api }: Run, prompt: string, webhookUrl?: string): Promise<CreationId> {
  const { status, body } = await api.send('/images/generate', {
    body: { model: canaryModel, prompt, ...(webhookUrl !== undefined && { webhook_url: webhookUrl }) },
  });
  const id = parseCreationId(String(body['id']));
  if (status !== 202 || !id) throw new OperatorError(`A creation was answered ${said(status, body)}`);
  return id;
}

async function ended({ services: { creations, clock } }: Run, id: CreationId): Promise<void> {
  const isOver = (creation: CreationRecord | undefined): boolean =>
    creation !== undefined && isTerminal(creation.status) && creation.webhook?.status !== 'pending';
  const read = async () => isOver(await creations.read(id));
  if (await until(clock, { waitMillis: 60_000, pauseMillis: 500 }, read, (is) => is)) return;
  throw new OperatorError(`The creation ${id} has not ended within a minute: see \`creations show ${id}\`.`);
}

async function counted(run: Run, window: Window): Promise<Counted> {
  const { services, ask, creations } = run;
  const { stateMachineArns } = services.releases;
  const read = async (): Promise<Counted> => {
    const started = await Promise.all(
      stateMachineArns.map((arn) => ask.sumOf('ExecutionsStarted', ['StateMachineArn', arn], window)),
    );
    return {
      transitions: await ask.sumOf('ConsumedCapacity', ['ServiceMetric', 'StateTransition'], window),
      executions: started.reduce<number>((sum, one = 0) => sum + one, 0),
    };
  };
  return until(
    services.clock,
    run,
    read,
    (found) => found.executions >= creations && found.transitions !== undefined,
  );
}

/** Repeats the query until the answer is complete, or the time is over. */
async function until<Answer>(
  clock: OperatorServices['clock'],
  {
    waitMillis,
    pauseMillis = Math.min(10_000, waitMillis / 4),
  }: { waitMillis: number; pauseMillis?: number },
  read: () => Promise<Answer>,
  isWhole: (answer: Answer) => boolean,
): Promise<Answer> {
  const end = clock.now() + waitMillis;
  for (;;) {
    const answer = await read();
    if (isWhole(answer) || clock.now() >= end) return answer;
    await clock.sleep(pauseMillis);
  }
}

/**
 * The tokens of tasks. An execution of the callback machine renders a creation that another one renders already: its
 * first attempts fail, and its last attempt ends its own task.
 */
async function taskRows(run: Run): Promise<readonly EvidenceRow[]> {
  const { services, ask, tell } = run;
  tell('Watching a task that waits for its token …');
  const { states } = services.deployed ?? {};
  const id = await order(run, 'a task [sandbox:delay=3s]');
  const started = await states?.send(
    new StartExecutionCommand({
      stateMachineArn: callbackMachineOf(run),
      name: `evidence-${randomUUID()}`,
      input: JSON.stringify({ creation_id: id, renderer: '#1#' }),
    }),
  );
  await ended(run, id);
  const read = async () => attemptsIn(await ask.history(started?.executionArn ?? ''));
  const attempts = await until(
    services.clock,
    run,
    read,
    (found) => found.at(-1)?.ended?.type === 'TaskSucceeded',
  );
  const token = attempts.at(-1)?.token;
  const refusal = token === undefined ? undefined : await refusalOf(token, states);
  return [...tokenRows(attempts), ...(token === undefined ? [] : [secondEndRow(refusal)])];
}

async function refusalOf(taskToken: string, states: SFNClient | undefined): Promise<string | undefined> {
  try {
    await states?.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

function callbackMachineOf({ services }: Run): string {
  const [, callbackMachine = ''] = services.releases.stateMachineArns;
  return callbackMachine;
}

/** How many executions the command reads, at most. */
const mostHistories = 20;

/** Reads executions of which one heartbeat at least was lost: a callback that never came. */
async function lostHeartbeats(run: Run): Promise<readonly EvidenceRow[]> {
  const { ask } = run;
  const long = (await ask.succeeded(callbackMachineOf(run))).filter(
    ({ startDate, stopDate }) =>
      (stopDate?.getTime() ?? 0) - (startDate?.getTime() ?? 0) >= heartbeatSeconds * 1_000,
  );
  const attempts = [];
  for (const { executionArn = '' } of long.slice(0, mostHistories))
    attempts.push(...attemptsIn(await ask.history(executionArn)));
  return [heartbeatRow(attempts, heartbeatSeconds * 1_000)];
}

type LogGroups = ReadonlyMap<string, string>;

/** The log groups by the names of their functions. */
function logGroupsIn(resources: Awaited<ReturnType<AskStack['resources']>>): LogGroups {
  return new Map(
    [...resources].flatMap(([id, { type, name }]) => {
      const fn = /([A-Z]\w+?)Log[0-9A-F]{8}$/.exec(id)?.[1];
      return type === 'AWS::Logs::LogGroup' && fn !== undefined ? [[fn, name] as const] : [];
    }),
  );
}

const callbackDays = 30;

async function loggedRows(run: Run, groups: LogGroups): Promise<readonly EvidenceRow[]> {
  const { services, ask, began, tell } = run;
  tell('Waiting for the logs …');
  const linesOf = async (fn: string, pattern: string, from: number): Promise<readonly string[]> => {
    const group = groups.get(fn);
    return group === undefined ? [] : ask.lines(group, pattern, from);
  };
  // The log of a rendering comes last.
  const renderings = await until(
    services.clock,
    run,
    async () => eventsIn(await linesOf('RenderImageSmall', '?provider_answered ?creation_completed', began)),
    (events) => events.filter(({ event }) => event === 'creation_completed').length >= run.creations,
  );
  const reports = [];
  for (const fn of groups.keys())
    for (const line of await linesOf(fn, '"REPORT RequestId"', began)) {
      const report = reportIn(fn, line);
      if (report) reports.push(report);
    }
  const monthAgo = began - callbackDays * 86_400_000;
  const callbacks = eventsIn(await linesOf('ReceiveCallback', '"callback_received"', monthAgo));
  return [
    ...coldStartRows(reports),
    billedRow('GenerateImage', reports, 150),
    timeRow(
      'from the answer of a provider to the end',
      endings(renderings),
      1_000,
      'the log has no such lines',
    ),
    timeRow(
      'from the callback of a vendor to the end',
      callbacks.filter(({ outcome }) => outcome === 'completed').map(({ millis = 0 }) => millis),
      3_000,
      `no vendor called back within ${callbackDays} days`,
    ),
  ];
}

interface Event {
  readonly event?: string;
  readonly at?: string;
  readonly creationId?: string;
  readonly outcome?: string;
  readonly millis?: number;
}

function eventsIn(lines: readonly string[]): readonly Event[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line.slice(line.indexOf('{'))) as Event];
    } catch {
      return [];
    }
  });
}

/** The milliseconds from the last answer of the provider to the end of the same creation. */
function endings(events: readonly Event[]): readonly number[] {
  const answered = new Map<string, number>();
  const millis: number[] = [];
  for (const { event, creationId = '', at = '' } of events) {
    if (event === 'provider_answered') answered.set(creationId, Date.parse(at));
    const from = answered.get(creationId);
    if (event === 'creation_completed' && from !== undefined) millis.push(Date.parse(at) - from);
  }
  return millis;
}
