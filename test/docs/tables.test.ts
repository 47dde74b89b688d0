/** The tables of the documentation have a row for everything that the code states in a table. */
import { describe, expect, it } from 'vitest';
import { operations, type OperationName } from '../../core/contract.ts';
import { failureNames, failures } from '../../core/failure.ts';
import { alarmMetric, metrics, type MetricDefinition } from '../../core/metrics.ts';
import { styles } from '../../adapters/providers/compatible/styles.ts';
import { compatibleStyleNames } from '../../core/provider-styles.ts';
import { providers } from '../../core/providers.ts';
import { portalSettings } from '../../lib/portal/portal-settings.ts';
import { documentation } from '../../document/operations/documentation.ts';
import { fullSettings } from '../stack/full-settings.ts';
import { firstColumn, readPage, sectionOf, tableRows } from './pages.ts';

const api = readPage('docs/api.md');
const alarmsPage = readPage('docs/alarms.md');
const deployingPage = readPage('docs/deploying.md');

describe('docs/api.md', () => {
  it('The table of operations has every operation with its operationId', () => {
    const rows = tableRows(api.text).map(([operation, name]) => [operation, name]);
    const stated = Object.entries(operations).map(([name, { method, path }]) => [
      `${method} ${path}`,
      `\`${name}\``,
    ]);
    expect(rows.toSorted()).toEqual(stated.toSorted());
  });

  it('The table of failures has the number, the name, the message and the retry of each failure', () => {
    const rows = failureNames.map((name) => {
      const { number, message, retryable } = failures[name];
      return `| ${number} | ${name} | ${message} | ${String(retryable)} |`;
    });
    const section = sectionOf(api, '### Failures of a creation');
    expect(section.split('\n').filter((line) => /^\| \d/.test(line))).toEqual(rows);
  });

  it.each(Object.entries(operations))(
    'The page shows a request of %s, and the document every answer',
    (name, { path }) => {
      const requests = api.blocks.filter(({ text }) => text.includes('curl ')).map(({ text }) => text);
      const shown = new RegExp(`\\$API${path.replace('{id}', '[\\w-]{36}')}[\\s"?]`);
      expect(requests.filter((text) => shown.test(text))).not.toEqual([]);
      const { successes } = documentation[name as OperationName].answers;
      expect(successes.filter(({ examples }) => examples.length === 0)).toEqual([]);
    },
  );
});

describe('docs/operations.md', () => {
  it('Each of 15 things that a caller says has its first command and a link', () => {
    const rows = tableRows(sectionOf(readPage('docs/operations.md'), '## What a caller says'));
    expect(rows).toHaveLength(15);
    for (const [symptom, command, more] of rows) {
      expect(command, symptom).toMatch(/^`[a-z].+`$/);
      expect(more, symptom).toMatch(/\]\(\S+\)/);
    }
  });
});

describe('docs/deploying.md', () => {
  const codes = (names: readonly string[]): string[] => names.map((name) => `\`${name}\``).sort();

  it('The table of settings has every setting', () => {
    expect(firstColumn(sectionOf(deployingPage, '## Settings')).sort()).toEqual(
      codes(Object.keys(fullSettings)),
    );
  });

  it('The table of the portal has every setting of the portal', () => {
    const names = Object.keys(portalSettings.unwrap().shape).map((name) => `portal.${name}`);
    expect(firstColumn(sectionOf(deployingPage, '## The portal')).sort()).toEqual(codes(names));
  });
});

describe('docs/alarms.md', () => {
  it('Every anchor that the page sets is that of a row in the table of alarms, and every row sets its anchor', () => {
    const names = firstColumn(sectionOf(alarmsPage, '## Alarms')).map((cell) => cell.replace(/^<.*>/, ''));
    expect(firstColumn(sectionOf(alarmsPage, '## Alarms'))).toEqual(
      names.map((name) => `<a id="${name.toLowerCase()}"></a>${name}`),
    );
    expect(alarmsPage.text.match(/<a id=/g)).toHaveLength(names.length);
    expect(new Set(alarmsPage.anchors).size).toBe(alarmsPage.anchors.length);
  });

  it('The table of metrics has the event, the value, the unit and the dimensions of each metric', () => {
    const definitions: readonly MetricDefinition[] = metrics;
    expect(tableRows(sectionOf(alarmsPage, '## Metrics and dashboard'))).toEqual([
      ...definitions.map((metric) => metricRow(metric, `\`${metric.event}\``)),
      metricRow(alarmMetric, 'every line of level alarm'),
    ]);
  });
});

/** The cells of a metric in docs/alarms.md. */
function metricRow(
  { name, field, unit, dimensions }: Omit<MetricDefinition, 'event'>,
  event: string,
): string[] {
  const code = (word: string): string => `\`${word}\``;
  const series = dimensions.map((set) => (set.length === 0 ? 'all' : set.map(code).join(', ')));
  return [code(name), event, field === undefined ? '1' : code(field), unit, series.join('; ')];
}

describe('docs/providers.md', () => {
  const page = readPage('docs/providers.md');
  it('The table of providers has every provider that needs a credential', () => {
    const needy = Object.entries(providers).filter(([, { credential }]) => credential !== 'none');
    const rows = needy.map(([name]) => `\`${name}\``);
    expect(firstColumn(sectionOf(page, '## Switching one on'))).toEqual(rows);
  });

  it('The table of styles has every style with its members', () => {
    const columns = [
      'size',
      'edits',
      'sourceField',
      'seed',
      'quality',
      'outputFormat',
      'billed',
      'checkPath',
    ] as const;
    expect(tableRows(sectionOf(page, '## Styles'))).toEqual(
      compatibleStyleNames.map((name) => [
        `\`${name}\``,
        ...columns.map((column) => styles[name][column] ?? '-'),
      ]),
    );
  });

  it('The table of members has every member of a style', () => {
    const members = firstColumn(sectionOf(page, '### Members of a style'));
    const named = members.flatMap((cell) => cell.match(/\w+/g) ?? []);
    // The table of styles shows where source images go in `sourceField`.
    expect([...named, 'sourceField'].toSorted()).toEqual(Object.keys(styles.openai).toSorted());
  });
});
