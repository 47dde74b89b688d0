/**
 * What the stand-in has no part for: CloudFormation's list of resources, CloudWatch, its logs, and the gateways as the
 * internet sees them. Each assumption about AWS can be switched to the other answer.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { OperatorServices } from '../../admin/services.ts';
import { operatorServices, addressOf } from '../../admin/services.ts';
import { listenOnLoopback } from '../../local/http.ts';
import type { AwsCall, AwsOutput } from '../../local/aws/aws-call.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { type StandInStack, startStack } from '../serve/stand-in-stack.ts';
import { nameOf } from '../stack/template.ts';

/** The other answers that AWS might give. */
export const switches = [
  'a transition for each end',
  'the heartbeat counts from the end of the invocation',
  'a retry keeps its token',
  'tokens are long',
  'an early end is lost',
  'a second end is accepted',
  'the gateway collects a stream',
  'the HTTP API renames the challenge',
  'the REST API keeps the challenge',
  'the firewall answers in its own words',
  'INIT is free',
  'INIT is slow',
  'calls to AWS are slow',
  'the end of a creation is slow',
  'a callback is slow',
] as const;
type Switch = (typeof switches)[number];

export interface EvidenceAccount {
  readonly operator: OperatorServices;
  readonly stack: StandInStack;
  readonly set: (on: readonly Switch[]) => void;
  readonly end: () => Promise<void>;
}

export async function startEvidenceAccount(folder: string): Promise<EvidenceAccount> {
  let on = new Set<Switch>();
  const logs = new Map<string, string[]>();
  const logOf = (functionId: string): string[] => {
    const name = nameOf(functionId);
    const lines = logs.get(name) ?? [];
    logs.set(name, lines);
    return lines;
  };
  const stack = await startStack(folder, {
    onLog: ({ functionId, line }) => logOf(functionId).push(line),
    onEvent: (event) => {
      if (event.event !== 'invocation') return;
      const lines = logOf(event.functionId);
      const isCold = !lines.some((line) => line.startsWith('REPORT '));
      lines.push(reportLine(isCold, on));
    },
  });
  const { machine } = stack;
  machine.interceptAws(async (call, serve) => {
    if (
      call.operation === 'SendTaskSuccess' &&
      call.caller === 'operator' &&
      on.has('a second end is accepted')
    )
      return {};
    const answer = await serve();
    return call.operation === 'GetExecutionHistory' ? historyWith(call, answer, on) : answer;
  });
  const proxy = createServer((incoming, outgoing) => void pass(incoming, outgoing, machine.localUrl, on));
  const front = `http://127.0.0.1:${await listenOnLoopback(proxy)}`;
  const { stateMachines, functions } = machine.template;
  const watch = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  const watchUrl = `http://127.0.0.1:${await listenOnLoopback(watch)}`;

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const text = (await buffer(incoming)).toString();
    const operation = String(incoming.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
    if (operation === '') {
      outgoing.end(stackResources(functions.map(({ id }) => id)));
      return;
    }
    const input = JSON.parse(text) as Readonly<Record<string, string>> & {
      readonly Dimensions?: readonly { readonly Value: string }[];
    };
    if (operation === 'FilterLogEvents') {
      const terms = (input['filterPattern'] ?? '').replaceAll('"', '').split(/ ?\?/).filter(Boolean);
      const lines = logs.get(input['logGroupName'] ?? '') ?? [];
      const found = lines.filter((line) => terms.some((term) => line.includes(term)));
      outgoing.end(JSON.stringify({ events: withEnds(found, on).map((message) => ({ message })) }));
      return;
    }
    const [from, to] = [Number(input['StartTime']) * 1_000, Number(input['EndTime']) * 1_000];
    const begun = machine.executions.list().filter(({ startedAt }) => startedAt >= from && startedAt < to);
    const machineArn = input.Dimensions?.[0]?.Value ?? '';
    const ofMachine = begun.filter((one) => one.machineArn === machineArn);
    const entered = begun
      .flatMap(({ history }) => history)
      .filter(
        // Each execution that began has its end, which may come a moment after its last picture.
        ({ type }) => type === 'StateEntered' || (type === 'ExecutionStarted' && on.has(switches[0])),
      );
    const sum = stateMachines.some(({ arn }) => arn === machineArn) ? ofMachine.length : entered.length;
    outgoing.end(JSON.stringify({ Datapoints: sum === 0 ? [] : [{ Sum: sum }] }));
  }

  const outputs = { ...machine.template.outputs, UserPoolId: '' } as Readonly<Record<string, string>>;
  const moved: Readonly<Record<string, string>> = {
    ApiUrl: machine.apiUrl.replace(new URL(machine.apiUrl).origin, front),
    OpenaiBaseUrl: machine.openaiUrl.replace(new URL(machine.openaiUrl).origin, front),
  };
  const region = { region: 'us-east-1', credentials: { accessKeyId: 'operator', secretAccessKey: 'local' } };
  const operator = operatorServices(
    {
      ...addressOf((name) => moved[name] ?? outputs[name] ?? ''),
      endpoint: machine.awsUrl,
      deployed: {
        stack: 'Darkroom',
        cloudFormation: new CloudFormationClient({ ...region, endpoint: watchUrl }),
        endpoints: { monitoring: watchUrl, logs: watchUrl },
      },
    },
    { ...systemClock, now: () => machine.clock.now() },
  );
  logOf('ReceiveCallback00000000').push(
    JSON.stringify({ event: 'callback_received', outcome: 'completed', millis: 420 }),
  );
  return {
    operator,
    stack,
    set: (next) => {
      on = new Set(next);
      logs.clear();
      logOf('ReceiveCallback00000000').push(
        JSON.stringify({
          event: 'callback_received',
          outcome: 'completed',
          millis: on.has('a callback is slow') ? 9_000 : 420,
        }),
      );
    },
    end: async () => {
      await Promise.all([closed(proxy), closed(watch)]);
      await stack.end();
    },
  };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await once(server.close(), 'close');
}

/** As Lambda writes it for functions whose log is text. */
function reportLine(isCold: boolean, on: ReadonlySet<Switch>): string {
  const init = on.has('INIT is slow') ? 2_400 : 240;
  const duration = on.has('calls to AWS are slow') ? 400 : 60;
  const billed = Math.ceil(duration + (isCold && !on.has('INIT is free') ? init : 0));
  const parts = [
    'REPORT RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95',
    `Duration: ${duration.toFixed(2)} ms`,
    `Billed Duration: ${billed} ms`,
    'Memory Size: 256 MB',
    'Max Memory Used: 91 MB',
    ...(isCold ? [`Init Duration: ${init.toFixed(2)} ms`] : []),
  ];
  return `${parts.join('\t')}\t\n`;
}

/** The lines with a usual time from the answer of the provider to the end: a busy machine takes longer. */
function withEnds(lines: readonly string[], on: ReadonlySet<Switch>): readonly string[] {
  const answered = new Map<string, number>();
  return lines.map((line) => {
    if (!line.startsWith('{')) return line;
    const event = JSON.parse(line) as { event: string; at: string; creationId: string };
    if (event.event === 'provider_answered') answered.set(event.creationId, Date.parse(event.at));
    const from = answered.get(event.creationId);
    if (event.event !== 'creation_completed' || from === undefined) return line;
    const millis = on.has('the end of a creation is slow') ? 5_000 : 300;
    return JSON.stringify({ ...event, at: new Date(from + millis).toISOString() });
  });
}

interface WrittenEvent {
  readonly type: string;
  readonly timestamp: Date;
  readonly taskScheduledEventDetails?: { readonly parameters: string };
}

/** The invocation of a lost callback takes five seconds, however busy the machine is. */
function historyWith({ input }: AwsCall, answer: AwsOutput, on: ReadonlySet<Switch>): AwsOutput {
  const events = answer['events'] as readonly WrittenEvent[];
  const isLost = String(input['executionArn']).endsWith('lost');
  let first: string | undefined;
  let begun = 0;
  return {
    events: events.map((event) => {
      const { type, taskScheduledEventDetails: details } = event;
      if (details) begun = event.timestamp.getTime();
      const isMoved = isLost && (type === 'TaskSubmitted' || type === 'TaskTimedOut');
      const fromEnd = on.has('the heartbeat counts from the end of the invocation');
      const seconds = type === 'TaskSubmitted' ? 5 : fromEnd ? 65 : 60;
      if (isMoved) return { ...event, timestamp: new Date(begun + seconds * 1_000) };
      if (!isLost && type === 'TaskSucceeded' && on.has('an early end is lost'))
        return { ...event, type: 'TaskFailed' };
      if (!details) return event;
      const token = /"task_token":"([^"]+)"/.exec(details.parameters)?.[1] ?? '';
      first ??= token;
      const kept = on.has('a retry keeps its token') ? first : token;
      const given = on.has('tokens are long') ? kept.repeat(3) : kept;
      return {
        ...event,
        taskScheduledEventDetails: { ...details, parameters: details.parameters.replace(token, given) },
      };
    }),
  };
}

/** Passes a request on to the stand-in, and changes the answer as the gateways of AWS might. */
async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  localUrl: string,
  on: ReadonlySet<Switch>,
): Promise<void> {
  const url = incoming.url ?? '';
  if (url.includes('etc/passwd')) {
    const own = on.has('the firewall answers in its own words');
    outgoing.writeHead(403, { 'content-type': 'application/json' });
    outgoing.end(own ? '{"message":"Forbidden"}' : '{"error":{"code":"request_blocked"}}');
    return;
  }
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers;
  const body = await buffer(incoming);
  const response = await fetch(new URL(url, localUrl), {
    method: incoming.method ?? 'GET',
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body }),
  });
  const given = new Map(response.headers);
  for (const name of ['content-length', 'transfer-encoding', 'connection']) given.delete(name);
  const isRest = url.startsWith('/openai');
  const [plain, renamed] = ['www-authenticate', 'x-amzn-remapped-www-authenticate'];
  const challenge = given.get(plain) ?? given.get(renamed);
  if (challenge !== undefined) {
    given.delete(plain);
    given.delete(renamed);
    const isRenamed = isRest
      ? !on.has('the REST API keeps the challenge')
      : on.has('the HTTP API renames the challenge');
    given.set(isRenamed ? renamed : plain, challenge);
  }
  outgoing.writeHead(response.status, Object.fromEntries(given));
  if (on.has('the gateway collects a stream')) outgoing.end(Buffer.from(await response.arrayBuffer()));
  else {
    for await (const part of response.body ?? []) outgoing.write(part);
    outgoing.end();
  }
}

/** The log of each function is named as the function. */
function stackResources(functionIds: readonly string[]): string {
  const members = [
    ['Web', 'AWS::WAFv2::WebACLAssociation', 'acl'],
    ...[...functionIds, 'ReceiveCallback00000000'].map((id) => [
      `${nameOf(id)}Log0123ABCD`,
      'AWS::Logs::LogGroup',
      nameOf(id),
    ]),
  ].map(
    ([id, type, name]) =>
      `<member><LogicalResourceId>${id}</LogicalResourceId><ResourceType>${type}</ResourceType><PhysicalResourceId>${name}</PhysicalResourceId><ResourceStatus>CREATE_COMPLETE</ResourceStatus><LastUpdatedTimestamp>2026-11-26T00:00:00Z</LastUpdatedTimestamp></member>`,
  );
  return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;
}
