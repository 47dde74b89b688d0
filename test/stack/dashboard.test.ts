/** The whole dashboard: each graph with its place and its metrics on the left and the right axis. */
import { describe, expect, it } from 'vitest';
import { resolved, resourcesOf, wordOf } from './template.ts';

interface Widget {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly metrics?: readonly unknown[][];
    readonly alarms?: readonly string[];
    readonly view?: string;
    readonly yAxis?: unknown;
  };
}

/** The body as JSON. Each reference to a resource becomes the word REFERENCE. */
function bodyOf(joined: unknown): { readonly widgets: readonly Widget[]; readonly start?: string } {
  const [, parts] = (joined as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : 'REFERENCE')).join(''),
  ) as ReturnType<typeof bodyOf>;
}

const [[, dashboard] = []] = resourcesOf('AWS::CloudWatch::Dashboard');
const body = bodyOf(dashboard?.Properties['DashboardBody']);

describe('the dashboard', () => {
  it('The dashboard shows twelve hours, and first the state of every alarm', () => {
    expect(body.start).toBe('-PT12H');
    expect(body.widgets[0]?.properties.alarms).toHaveLength(resourcesOf('AWS::CloudWatch::Alarm').length);
  });

  it('The dashboard has the name of the stack and of the region, and an output names the dashboard', () => {
    expect(wordOf(dashboard?.Properties['DashboardName'])).toBe('Darkroom-@AWS::Region');
    expect(resolved.outputs['DashboardName']).toBe('Darkroom-us-east-1');
  });

  it('The dashboard has a row of alarms above five rows of three graphs each', () => {
    const [alarms, ...graphs] = body.widgets.map(({ type, x, y, width, height, properties }) => [
      ...[type, x, y, width, height],
      properties.title,
    ]);
    expect(alarms).toEqual(['alarm', 0, 0, 24, 4, 'Alarms']);
    expect(graphs.map((graph) => graph.slice(0, 5))).toEqual(
      [4, 10, 16, 22, 28].flatMap((y) => [0, 8, 16].map((x) => ['metric', x, y, 8, 6])),
    );
  });

  it('The dashboard has graphs over time whose axes begin at 0 and show no units', () => {
    const axis = { min: 0, showUnits: false };
    for (const { properties } of body.widgets.slice(1))
      expect(properties).toMatchObject({ view: 'timeSeries', yAxis: { left: axis, right: axis } });
  });

  it('The dashboard has graphs of five minutes, which is the default period of a metric', () => {
    const periods = body.widgets
      .flatMap(({ properties: { metrics = [] } }) => metrics)
      .map((metric) => metric.at(-1))
      .flatMap((options) => (typeof options === 'object' && options !== null ? Object.entries(options) : []))
      .filter(([name]) => name === 'period')
      .map(([, seconds]): unknown => seconds);
    expect(periods.filter((seconds) => seconds !== 300)).toEqual([]);
  });
});

describe('the secret under which webhook secrets are sealed', () => {
  it('The sealing secret is made of 64 letters and digits, and survives its stack', () => {
    const generated = resourcesOf('AWS::SecretsManager::Secret').filter(
      ([, { Properties }]) => Properties['GenerateSecretString'] !== undefined,
    );
    expect(
      generated.map(([, { Properties, DeletionPolicy }]) => [
        Properties['GenerateSecretString'],
        DeletionPolicy,
      ]),
    ).toContainEqual([{ ExcludePunctuation: true, PasswordLength: 64 }, 'RetainExceptOnCreate']);
  });
});
