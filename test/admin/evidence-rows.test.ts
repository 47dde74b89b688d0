/** A fact that was not seen is no fact: its row says why, and is no difference. */
import { createServer } from 'node:http';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAskStack } from '../../admin/evidence/ask-stack.ts';
import {
  attemptsIn,
  coldStartRows,
  type EvidenceRow,
  firewallRow,
  heartbeatRow,
  reportIn,
  timeRow,
  tokenRows,
  transitionsRow,
  unansweredRow,
} from '../../admin/evidence/rows.ts';
import { listenOnLoopback } from '../../local/http.ts';

const said = (...rows: readonly EvidenceRow[]): [string, string][] =>
  rows.map(({ verdict, seen }) => [verdict, seen]);

describe('a row without a fact', () => {
  it.each<[string, readonly EvidenceRow[], string]>([
    ['no receiver', [transitionsRow('a success', 'not asked')], 'not asked'],
    [
      'no metric yet',
      [transitionsRow('a success', { transitions: undefined, executions: 10 })],
      'CloudWatch had no values yet',
    ],
    ['no firewall', [firewallRow(undefined)], 'webAclArn is not set'],
    [
      'a firewall without such a rule',
      [firewallRow({ status: 404, text: '' })],
      'no rule refuses ../../etc/passwd',
    ],
    ['no callback', [timeRow('a callback', [], 1, 'none')], 'none'],
    ['no lost heartbeat', [heartbeatRow([], 60_000)], 'no callback was lost'],
  ])('With %s, the row says so', (_what, rows, seen) => {
    expect(said(...rows)).toEqual([['not seen', seen]]);
  });

  it('Without a cold start, both rows of INIT say so', () => {
    const warm = reportIn('Mcp', 'REPORT RequestId: x\tDuration: 2.5 ms\tBilled Duration: 3 ms\tMemory');
    expect(warm).toEqual({ fn: 'Mcp', duration: 2.5, billed: 3, init: undefined });
    expect(
      coldStartRows([{ fn: 'Mcp', duration: 2.5, billed: 3, init: undefined }]).map(({ verdict }) => verdict),
    ).toEqual(['not seen', 'not seen']);
  });

  it('Without a history of tasks, no row of tokens is seen', () => {
    expect(tokenRows(attemptsIn([])).map(({ verdict }) => verdict)).toEqual([
      'not seen',
      'not seen',
      'not seen',
    ]);
  });
});

describe('a lost heartbeat', () => {
  const lost = (submitted: number, ended: number) => [
    { token: 'one', scheduled: 0, submitted, ended: { type: 'TaskTimedOut', at: ended } },
  ];

  it.each([
    [100, 60_100, 'not seen', 'the invocations were too short to tell'],
    [1_000, 60_500, 'as assumed', 'counts from the start of the task'],
    [8_000, 60_400, 'as assumed', 'counts from the start of the task'],
    [30_000, 80_400, 'not seen', 'no callback was lost'],
    [8_000, 68_300, 'differs', 'counts from the end of the invocation'],
    [8_000, 90_000, 'differs', 'ended 90 s after the start'],
  ])('An invocation of %i ms and an end after %i ms is %s: %s', (submitted, ended, verdict, seen) => {
    expect(said(heartbeatRow(lost(submitted, ended), 60_000))).toEqual([[verdict, seen]]);
  });
});

describe('a question that AWS does not answer', () => {
  it('A missing permission is a row that names the call, and no resource', async () => {
    const server = createServer((_incoming, outgoing) => {
      outgoing.writeHead(400);
      outgoing.end(
        '{"__type":"com.amazon.coral.service#AccessDeniedException","message":"arn:aws:iam::1:x"}',
      );
    });
    const logs = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    onTestFinished(() => void server.close());
    const place = {
      region: 'us-east-1',
      urlSuffix: 'amazonaws.com',
      accessKeyId: 'operator',
      secretAccessKey: 'local',
    };
    const ask = createAskStack({
      stack: 'Darkroom',
      cloudFormation: new CloudFormationClient({ region: 'us-east-1' }),
      states: new SFNClient({ region: 'us-east-1' }),
      place: () => Promise.resolve(place),
      endpoints: { logs },
    });
    const refusal: unknown = await ask.lines('group', 'x', 0).catch((error: unknown) => error);
    expect(unansweredRow('the logs', refusal)).toEqual({
      assumption: 'the logs',
      assumed: 'an answer',
      seen: 'AWS refused FilterLogEvents (400 AccessDeniedException): allow the command what docs/task-tokens.md lists.',
      verdict: 'could not ask',
    });
  });
});
