import { describe, expect, it } from 'vitest';
import {
  deploymentMillis,
  type FunctionVersion,
  type JudgedVersion,
  judgeVersions,
  longestExecutionMillis,
  versionsNamedIn,
  type VersionUses,
} from '../../admin/release-store.ts';
import { resolved } from '../stack/template.ts';

const dayMillis = 86_400_000;
const nowMillis = 100 * dayMillis;
const version = (number: number, ageMillis: number, functionName = 'Render'): FunctionVersion => ({
  functionName,
  version: number,
  publishedAt: nowMillis - ageMillis,
});
const unused: VersionUses = { definitions: new Set(), executions: new Set(), aliases: new Map() };
const judge = (versions: FunctionVersion[], uses: Partial<VersionUses> = {}): readonly JudgedVersion[] =>
  judgeVersions(versions, { ...unused, ...uses }, { nowMillis, leastAgeMillis: dayMillis });
const keptOf = (judged: readonly JudgedVersion[]): unknown[] =>
  judged.map(({ functionName, version: number, kept }) => [functionName, number, kept]);

describe('the versions of a function', () => {
  const [first, second, third] = [
    version(1, 9 * dayMillis),
    version(2, 8 * dayMillis),
    version(3, 7 * dayMillis),
  ];

  it('A version that nothing names and that was superseded long ago is kept no longer', () => {
    expect(keptOf(judge([third, first, second]))).toEqual([
      ['Render', 1, undefined],
      ['Render', 2, undefined],
      ['Render', 3, 'newest'],
    ]);
  });

  it('A version is kept while a definition, an alias or a running execution names it', () => {
    const aliases = new Map([['Render:1', ['live']]] as const);
    expect(keptOf(judge([first, second, third], { definitions: new Set(['Render:1']) }))[0]).toEqual([
      'Render',
      1,
      'definition',
    ]);
    expect(keptOf(judge([first, second, third], { executions: new Set(['Render:2']) }))[1]).toEqual([
      'Render',
      2,
      'execution',
    ]);
    const [judged] = judge([first, second, third], { aliases });
    expect(judged).toMatchObject({ kept: 'alias', aliases: ['live'] });
  });

  it('The same number of another function names another version', () => {
    const judged = judge(
      [first, second, version(1, 9 * dayMillis, 'Other'), version(2, 8 * dayMillis, 'Other')],
      {
        definitions: new Set(['Other:1']),
      },
    );
    expect(keptOf(judged)).toEqual([
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
