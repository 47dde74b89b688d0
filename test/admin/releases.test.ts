/** `releases list` and `releases prune`, over the real SDK, on a folder that earlier releases have left. */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteFunctionCommand, LambdaClient, ListVersionsByFunctionCommand } from '@aws-sdk/client-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { submit } from '../whole/workflow/creations.ts';
import { nameOf, resolved } from '../stack/template.ts';
import { admin, adminJson, refusal } from './admin-run.ts';
import {
  deploymentMillis,
  type FunctionVersion,
  type JudgedVersion,
  judgeVersions,
  longestExecutionMillis,
  versionsNamedIn,
  type VersionUses,
} from '../../admin/release-store.ts';

const dayMillis = 86_400_000;
const idOf = (name: string): string => resolved.functions.find(({ id }) => nameOf(id) === name)?.id ?? '';
const [render, refund] = [idOf('RenderImage'), idOf('RefundCharge')];

let service: TestService;
let lambda: LambdaClient;
let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-releases-'));
  file = join(folder, 'lambda', 'versions.json');
  await mkdir(join(folder, 'lambda'));
  const version = (number: number, daysAgo: number): object => ({
    version: number,
    id: `release-${number}`,
    publishedAt: Date.now() - daysAgo * dayMillis,
  });
  // Fifty-two versions need a second page of Lambda's answer.
  const many = Array.from({ length: 52 }, (_, place) => version(place + 1, 90 - place));
  await writeFile(
    file,
    JSON.stringify({ [render]: many, [refund]: [version(1, 30), version(2, 20), version(3, 0.01)] }),
  );
  service = await startTestService({ folder });
  lambda = new LambdaClient({
    endpoint: service.machine.awsUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
});
afterAll(() => service.end());

let before: string;
beforeEach(async () => {
  before = await readFile(file, 'utf8');
});
afterEach(() => {
  service.machine.faults.clear();
  service.machine.interceptAws((_call, serve) => serve());
});

type Rows = readonly Readonly<Record<string, unknown>>[];
const rowsOf = async (...args: string[]): Promise<Rows> =>
  (await adminJson(folder, 'releases', ...args))['data'] as Rows;
const versionsOf = (rows: Rows, fn: string): unknown[] =>
  rows.filter((row) => row['function'] === fn).map(({ version }) => version);

/** The definition that an older release had: it names the second version of RefundCharge. */
const olderDefinition = JSON.stringify({
  Resource: `arn:aws:lambda:us-east-1:000000000000:function:${refund}:2`,
});

describe('releases list', () => {
  it('The list has every version of each function, when it was published and superseded, and why it is kept', async () => {
    const rows = await rowsOf('list');
    expect(new Set(rows.map((row) => nameOf(String(row['function']))))).toEqual(
      new Set(['RenderImage', 'RenderImageSmall', 'RenderImageLarge', 'RefundCharge', 'DeliverWebhook']),
    );
    const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
    const own = rows.filter((row) => row['function'] === refund);
    expect(own.map(({ version, kept, aliases }) => [version, kept, aliases])).toEqual([
      [1, null, []],
      [2, 'recent', []],
      [3, 'recent', []],
      [4, 'definition', []],
    ]);
    for (const row of own) expect(row['published_at']).toMatch(instant);
    expect(own.map((row) => row['superseded_at'])).toEqual([
      ...own.slice(1).map((row) => row['published_at']),
      null,
    ]);
    expect(versionsOf(rows, render)).toEqual(Array.from({ length: 53 }, (_, place) => place + 1));
  });
});

describe('releases prune', () => {
  it('A dry run shows what would be deleted, and deletes nothing', async () => {
    const rows = await rowsOf('prune', '--dry-run', '--older-than', '60');
    expect(versionsOf(rows, render)).toHaveLength(31);
    expect(new Set(rows.map((row) => row['outcome']))).toEqual(new Set(['would_be_removed']));
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('A pruning keeps the versions that the definition of a running execution names', async () => {
    const { key } = await service.client();
    service.machine.interceptAws((call, serve) => {
      if (call.caller.startsWith('RenderImage')) return new Promise(() => undefined);
      return call.operation === 'DescribeStateMachineForExecution'
        ? Promise.resolve({ definition: olderDefinition.replace(`${refund}:2`, `${refund}:1`) })
        : serve();
    });
    await submit(service, key, { prompt: 'a lake' });
    const rows = await rowsOf('list');
    expect(rows.find((row) => row['function'] === refund && row['version'] === 1)).toMatchObject({
      kept: 'execution',
    });
    expect(versionsOf(await rowsOf('prune', '--dry-run'), refund)).toEqual([]);
  });

  it('A pruning is refused with a sentence when Step Functions does not list the running executions', async () => {
    service.machine.faults.set({ call: 'states:ListExecutions', error: 'AccessDenied' });
    expect(await refusal(folder, 'releases', 'prune')).toContain('cannot be read (AccessDeniedException: ');
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('A pruning is refused while more executions than Step Functions lists may need older versions', async () => {
    service.machine.interceptAws((call, serve) => {
      if (call.operation !== 'ListExecutions') return serve();
      const machine = String(call.input['stateMachineArn']);
      const length = machine.includes('Callback') ? 50 : machine.endsWith('-notices') ? 1 : 100;
      const executionArn = machine.replace(':stateMachine:', ':execution:');
      const executions = Array.from({ length }, (_, place) => ({
        executionArn: `${executionArn}:${place}`,
        startDate: 0,
      }));
      return Promise.resolve({ executions });
    });
    expect(await refusal(folder, 'releases', 'prune')).toMatch(
      /151 executions still run that may have begun before the last release: prune 3 hours after it\.$/,
    );
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('A pruning that is refused in the middle says how far it came and what to allow, and the next one goes on', async () => {
    service.machine.faults.set({
      call: 'lambda:DeleteFunction',
      error: 'AccessDenied',
      match: `"Qualifier":"3"`,
    });
    const said = await admin(folder, 'releases', 'prune', '--older-than', '85');
    expect(said.code).toBe(1);
    expect(said.complaint).toMatch(
      /Version 3 of RenderImage\w+ could not be deleted \(AccessDeniedException: .*\); 2 others were: allow lambda:DeleteFunction, and repeat the command\.$/,
    );
    expect(await listed(render)).not.toEqual(expect.arrayContaining(['1']));
    const rows = await rowsOf('prune', '--older-than', '85');
    expect(versionsOf(rows, render)).toEqual([3, 4, 5, 6]);
  });

  it('A pruning deletes what nothing needs, says each version on standard error, and the next one finds nothing', async () => {
    const said = await admin(folder, '--json', 'releases', 'prune');
    expect(said.code).toBe(0);
    const { data } = JSON.parse(said.out) as { data: Rows };
    // Version 52 was superseded today.
    expect(versionsOf(data, render)).toEqual(Array.from({ length: 45 }, (_, place) => place + 7));
    expect(versionsOf(data, refund)).toEqual([1]);
    expect(said.complaint).toContain(`Deleting version 51 of ${render} …`);
    expect(await listed(render)).toEqual(['$LATEST', '52', '53']);
    expect((await admin(folder, 'releases', 'prune')).out).toContain('Nothing to delete: ');
  });

  it('A version that was deleted meanwhile counts as gone', async () => {
    service.machine.interceptAws(async (call, serve) => {
      const answer = await serve();
      // Somebody else deletes the version between the list and the deletion.
      if (call.operation === 'ListVersionsByFunction' && call.input['FunctionName'] === refund)
        return {
          Versions: [
            { Version: '1', LastModified: new Date(0).toISOString() },
            ...(answer['Versions'] as object[]),
          ],
        };
      return answer;
    });
    const rows = await rowsOf('prune');
    expect(rows).toMatchObject([{ function: refund, version: 1, outcome: 'gone' }]);
    expect(await listed(refund)).toContain('2');
  });

  it('A pruning takes a whole number of days only', async () => {
    expect(await refusal(folder, 'releases', 'prune', '--older-than', 'soon')).toBe(
      '--older-than: "soon" is no whole number from 0 to 3650.',
    );
  });
});

describe('the stand-in of Lambda', () => {
  it('The stand-in deletes no function: a deletion needs the number of a version', async () => {
    for (const Qualifier of [undefined, '$LATEST', 'live'])
      await expect(
        lambda.send(new DeleteFunctionCommand({ FunctionName: render, Qualifier })),
      ).rejects.toThrow();
    expect(await listed(render)).toContain('53');
  });
});

async function listed(FunctionName: string): Promise<(string | undefined)[]> {
  const { Versions = [] } = await lambda.send(new ListVersionsByFunctionCommand({ FunctionName }));
  return Versions.map(({ Version }) => Version);
}

const nowMillis = 100 * dayMillis;
const version = (number: number, ageMillis: number, functionName = 'Render'): FunctionVersion => ({
  functionName,
  version: number,
  publishedAt: nowMillis - ageMillis,
});
const unused: VersionUses = { definitions: new Set(), executions: new Set(), aliases: new Map() };
const judge = (versions: FunctionVersion[], uses: Partial<VersionUses> = {}): readonly JudgedVersion[] =>
  judgeVersions(versions, { ...unused, ...uses }, { nowMillis, leastAgeMillis: dayMillis });

describe('the versions of a function', () => {
  const [first, second] = [version(1, 9 * dayMillis), version(2, 8 * dayMillis)];

  it('A version is kept while an alias names it', () => {
    const aliases = new Map([['Render:1', ['live']]] as const);
    expect(judge([first, second], { aliases })[0]).toMatchObject({ kept: 'alias', aliases: ['live'] });
  });

  it('The same number of another function names another version', () => {
    const others = [version(1, 9 * dayMillis, 'Other'), version(2, 8 * dayMillis, 'Other')];
    const judged = judge([first, second, ...others], { definitions: new Set(['Other:1']) });
    expect(judged.map(({ functionName, version: number, kept }) => [functionName, number, kept])).toEqual([
      ['Render', 1, undefined],
      ['Render', 2, 'newest'],
      ['Other', 1, 'definition'],
      ['Other', 2, 'newest'],
    ]);
  });

  it('A version that was superseded a moment ago is kept, since executions that began before may still run', () => {
    const longest = longestExecutionMillis + deploymentMillis;
    const superseded = (ago: number): unknown => judge([first, version(2, ago)])[0]?.kept;
    expect(superseded(longest - 1)).toBe('recent');
    expect(superseded(longest + 1)).toBeUndefined();
  });

  it('A version that is younger than the given age is kept', () => {
    const young = version(1, dayMillis - 1);
    const next = version(2, longestExecutionMillis + deploymentMillis + 1);
    expect(judge([young, next])[0]?.kept).toBe('recent');
    expect(judge([version(1, dayMillis + 1), next])[0]?.kept).toBeUndefined();
  });
});

describe('a definition', () => {
  const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:Darkroom-Render_1-x';

  it('The versions of a definition are those at the end of the ARNs of its functions', () => {
    expect(
      versionsNamedIn(`{"Resource":"${arn}:17","FunctionName.$":"States.Array('${arn}:3', '${arn}')"}`),
    ).toEqual(['Darkroom-Render_1-x:17', 'Darkroom-Render_1-x:3']);
    expect(versionsNamedIn(`${arn.replace('arn:aws:', 'arn:aws-us-gov:')}:2`)).toEqual([
      'Darkroom-Render_1-x:2',
    ]);
  });

  it('The definition of this release names a version of each of its five functions, and has the longest time that is known here', () => {
    const text = resolved.stateMachines[0]?.definition ?? '';
    expect(new Set(versionsNamedIn(text)).size).toBe(5);
    expect(JSON.parse(text)).toMatchObject({ TimeoutSeconds: longestExecutionMillis / 1000 });
  });
});
