/** The tables of the documentation have a row for everything that the code states in a table. */
import { describe, expect, it } from 'vitest';
import { portalSettings } from '../../lib/settings-of-parts.ts';
import { compatibleStyleNames, providers } from '../../service/catalog/providers.ts';
import { failureNames, failures } from '../../service/contract/failures.ts';
import { alarmMetric, type MetricDefinition, metrics } from '../../service/contract/metrics.ts';
import { type OperationName, operations } from '../../service/contract/operations.ts';
import { documentation } from '../../service/document/operations.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
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

  it('The list of settings has every setting', () => {
    const listed = sectionOf(deployingPage, '## Settings').match(/(?<=^- )`\w+`/gm) ?? [];
    expect(listed.toSorted()).toEqual(codes(Object.keys(fullSettings)));
  });

  it('The table of docs/portal.md has every setting of the portal', () => {
    const names = Object.keys(portalSettings.unwrap().shape).map((name) => `portal.${name}`);
    expect(firstColumn(sectionOf(readPage('docs/portal.md'), '## Settings')).sort()).toEqual(codes(names));
  });
});

describe('docs/alarms.md', () => {
  it('Every anchor that the page sets is that of a row in the table of alarms, and every row sets its anchor', () => {
    const cells = firstColumn(sectionOf(alarmsPage, '## Alarms'));
    const set = cells.map((cell) => {
      const name = cell.replace(/<.*>/, '');
      const names = cell.includes('forhours') ? [name, `${name}ForHours`] : [name];
      return names.map((one) => `<a id="${one.toLowerCase()}"></a>`).join('') + name;
    });
    expect(cells).toEqual(set);
    expect(alarmsPage.text.match(/<a id=/g)).toHaveLength(cells.join('').match(/<a id=/g)?.length ?? 0);
    expect(new Set(alarmsPage.anchors).size).toBe(alarmsPage.anchors.length);
  });

  it('The list of metrics has the event, the value and the dimensions of each metric', () => {
    const definitions: readonly MetricDefinition[] = metrics;
    const list = alarmsPage.blocks.find(({ text }) => text.startsWith('CreationsAccepted'))?.text ?? '';
    expect(
      list
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/ {2,}/g, ' ')),
    ).toEqual([
      ...definitions.map((metric) => metricLine(metric, metric.event)),
      metricLine(alarmMetric, '(every line of level alarm)'),
    ]);
  });

  it('The unit of each metric is the one that the page states for its name', () => {
    for (const { name, unit } of [...metrics, alarmMetric])
      expect([name, unit]).toEqual([name, unitOf(name)]);
  });
});

/** The units of metrics by the ends of their names, as the page states them. */
const unitOf = (name: string): MetricDefinition['unit'] =>
  /(Time|Millis)$/.test(name) ? 'Milliseconds' : name.endsWith('Micros') ? 'None' : 'Count';

/** The line of a metric in docs/alarms.md, with single spaces. */
function metricLine({ name, field, dimensions }: Omit<MetricDefinition, 'event'>, event: string): string {
  const series = dimensions.map((set) => (set.length === 0 ? 'all' : set.join(', '))).join('; ');
  const value = field === undefined ? event : `${event}.${field}`;
  return `${name} ${value}${series === 'all' ? '' : ` by ${series}`}`;
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
