/** The tables of the documentation have a row for everything that the code states in a table. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operations, type OperationName, openaiOperations } from '../../service/contract/operations.ts';
import { plainRows } from '../../service/contract/request-fields.ts';
import { failureNames, failures } from '../../service/contract/failures.ts';
import { alarmMetric, metrics, type MetricDefinition } from '../../service/contract/metrics.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
import { compatibleStyleNames, providers, vendorAccess } from '../../service/catalog/providers.ts';
import { portalSettings } from '../../lib/settings-of-parts.ts';
import { documentation } from '../../service/document/operations.ts';
import { fullSettings } from '../stack/full-settings.ts';
import { firstColumn, readPage, sectionOf, tableRows, root } from './pages.ts';
import { blockSeconds, repeatedCallSeconds, toolWaitSeconds } from '../../service/contract/limits.ts';
import { tools } from '../../service/mcp/tools/tools.ts';
import { qualityWords } from '../../service/openai/fields.ts';
import { readSize, shapeOf } from '../../service/openai/size.ts';
import * as problems from '../../service/api/problems.ts';
import { openaiAnswers } from '../../lib/streams/gateway-answers.ts';
import { renderingRetrySeconds } from '../../service/openai/outcome.ts';
import { errorRows, refusedBy } from '../../service/openai/refusal.ts';
import { aCreation, creationId } from '../fixtures/records.ts';
import { catalog } from '../catalog/catalog-fixture.ts';
import { formattedPage } from '../../lab/formatted-page.ts';
import { withProvidersTable } from '../../admin/providers-table.ts';
import { quotasTable } from '../../admin/preflight/quotas/page.ts';

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

  it('The table of failures has the number, name, code, message and retry of each failure', () => {
    const rows = failureNames.map((name) => {
      const { number, code, message, retryable } = failures[name];
      return `| ${number} | ${name} | ${code} | ${message} | ${String(retryable)} |`;
    });
    const section = sectionOf(api, '### Failures of a creation');
    expect(section.split('\n').filter((line) => /^\| \d/.test(line))).toEqual(rows);
  });

  it.each(Object.entries(operations))(
    'The page shows a request of %s, and the document every answer',
    (name, { path }) => {
      const requests = api.blocks.filter(({ text }) => text.includes('curl ')).map(({ text }) => text);
      const shown = new RegExp(`\\$API${path.replace('{id}', '[\\w-]{16,36}')}[\\s"?]`);
      expect(requests.filter((text) => shown.test(text))).not.toEqual([]);
      const { successes } = documentation[name as OperationName].answers;
      expect(successes.filter((one) => one.status !== 204 && one.examples.length === 0)).toEqual([]);
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
  it('The table of providers has every provider that needs a credential, as `npm run openapi` writes it', async () => {
    const needy = Object.entries(providers).filter(([, { credential }]) => credential !== 'none');
    expect(Object.keys(vendorAccess)).toEqual(needy.map(([name]) => name));
    expect(await formattedPage(withProvidersTable(page.text))).toBe(page.text);
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

const mcpPage = readPage('docs/mcp.md');

describe('docs/mcp.md', () => {
  it('lists the tools with their arguments', () => {
    const rows = tableRows(sectionOf(mcpPage, '## Tools')).map(([name = '', args = '']) => [
      name.replaceAll('`', ''),
      [...args.matchAll(/`(\w+)`/g)].map(([, argument]) => argument).toSorted(),
    ]);
    const stated = tools.map(({ name, input }) => {
      const names = Object.keys(input.properties).toSorted();
      return [name, name === 'quote_image' ? ['generate_image', 'wait_seconds'] : names];
    });
    expect(rows).toEqual(stated);
  });

  it('says how long a call waits, and how long a repeated call attaches', () => {
    const waits = sectionOf(mcpPage, '## Waits');
    expect(waits).toContain(`waits ${toolWaitSeconds.usual} seconds`);
    expect(waits).toContain(`from 0 to ${toolWaitSeconds.most}`);
    expect(sectionOf(mcpPage, '## Repeated calls')).toContain(`Within ${repeatedCallSeconds} seconds`);
  });

  it.each([...mcpPage.text.matchAll(/^```json\n([^]*?)^```/gm)].map(([, text = '']) => text))(
    'has settings that a host can read, with the key and the address: %s',
    (text) => {
      const settings = JSON.parse(text) as Record<string, Record<string, Record<string, unknown>>>;
      const { darkroom } = settings['mcpServers'] ?? settings['servers'] ?? {};
      const isCommand = darkroom?.['command'] === 'npx';
      expect(darkroom).toMatchObject(
        isCommand
          ? {
              args: ['-y', 'https://darkroom.example/client/darkroom-client.tgz', 'mcp'],
              env: { DARKROOM_BASE_URL: 'https://darkroom.example' },
            }
          : { url: 'https://darkroom.example/mcp' },
      );
      expect(JSON.stringify(darkroom)).toMatch(/"Bearer \$\{|"dk_live_…"/);
    },
  );
});

const openaiPage = readPage('docs/openai.md');
const code = (word: string): string => `\`${word}\``;
/** The refusals of this endpoint that are 429 or 5xx, each for as long as it can last. */
const refusedForNow = [
  problems.rateExceeded('post', 60, 60),
  problems.tooManyOpen(1, 1),
  problems.tooManyHeld(1),
  problems.serviceIsFull(1, 1),
  problems.addressBlocked(blockSeconds * 1000),
  problems.internalError(),
  problems.sourceNotFetched(0, true),
  problems.notStarted(creationId),
  ...failureNames.map((failure) => problems.generationFailed(aCreation(), failure)),
  problems.noProviderEnabled('m', []),
  problems.overloaded(),
  problems.serviceClosed({ message: 'm', since: 's' }),
];
/** Refusals of the portal alone. */
const ofThePortal = ['forbidden', 'conflict'];

describe('docs/openai.md', () => {
  it('The table of operations has every operation', () => {
    const stated = Object.values(openaiOperations).map(({ method, path }) => `${method} ${path}`);
    const rows = tableRows(openaiPage.text).map(([first]) => first);
    expect(rows.filter((first) => /^(GET|POST) /.test(first ?? '')).toSorted()).toEqual(stated.toSorted());
  });

  it('The table of fields has every plain field of a request', () => {
    const named = firstColumn(sectionOf(openaiPage, '## A request')).flatMap(
      (cell) => cell.match(/\w+/g) ?? [],
    );
    expect(named).toEqual(expect.arrayContaining(plainRows.map(([name]) => name)));
  });

  it('The table of errors has status, type, code and retry of every error', () => {
    const rows = Object.entries(errorRows)
      .filter(([name]) => !ofThePortal.includes(name))
      .map(([name, { status, type, retry }]) => [
        String(status),
        code(type),
        code(name),
        retry ? 'yes' : 'no',
      ]);
    const shown = tableRows(sectionOf(openaiPage, '## Errors')).map((cells) => cells.slice(0, 4));
    expect(shown.toSorted()).toEqual(rows.toSorted());
  });

  it('The table of errors has every Retry-After, which is that of the refusals themselves', () => {
    const { held, withoutAPlace } = renderingRetrySeconds;
    const seconds = new Map<string, Set<number>>([['still_rendering', new Set([held, withoutAPlace])]]);
    const note = (name: string, after: string | undefined): void => {
      if (after === undefined) return;
      seconds.set(name, (seconds.get(name) ?? new Set<number>()).add(Number(after)));
    };
    for (const problem of refusedForNow) {
      const { error, headers } = refusedBy(problem);
      note(error.code, headers['retry-after']);
    }
    for (const { body, headers } of openaiAnswers)
      note((body as { error: { code: string } }).error.code, headers['Retry-After']?.replaceAll("'", ''));
    const shown = tableRows(sectionOf(openaiPage, '## Errors')).flatMap(([, , name = '', , after = '']) =>
      after === '' ? [] : [[name, (after.match(/\d+/g) ?? []).map(Number)]],
    );
    expect(shown).toEqual(
      shown.map(([name]) => [
        name,
        [...(seconds.get(String(name).replaceAll('`', '')) ?? [])].toSorted((one, other) => one - other),
      ]),
    );
    expect(shown).toHaveLength(seconds.size);
  });

  it('The table of qualities has every word', () => {
    const rows = tableRows(sectionOf(openaiPage, '### Qualities')).map(([word, meaning]) => [
      word,
      word === '`auto`' ? 'auto' : meaning,
    ]);
    expect(rows).toEqual(
      Object.entries(qualityWords).map(([word, meaning]) => [
        code(word),
        meaning === 'auto' ? meaning : meaning.join(', else '),
      ]),
    );
  });

  it('The table of sizes is what a model of all resolutions and ratios renders', () => {
    const model = catalog.models.find(({ id }) => id === 'gpt-image-2');
    const rows = tableRows(sectionOf(openaiPage, '### Sizes'));
    expect(rows.length).toBeGreaterThan(10);
    for (const [size = '', resolution, ratio] of rows) {
      const read = readSize(size.replaceAll('`', ''));
      const shape = model && read && read !== 'auto' ? shapeOf(read, model, model.routes) : undefined;
      expect([size, shape?.resolution, shape?.aspectRatio]).toEqual([size, resolution, ratio]);
    }
  });
});

describe('The page about the preflight', () => {
  it('has the table of quotas as the data has it (npm test -- test/docs/tables.test.ts -u writes it)', async () => {
    const table = await formattedPage(quotasTable());
    const page = readPage('docs/capacity.md').text.replace(/(?:^\|.*\n)+/m, table);
    await expect(page).toMatchFileSnapshot(join(root, 'docs/capacity.md'));
  });

  it('lists every permission that the command asks by', () => {
    const folder = join(root, 'admin/preflight');
    const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    const named = [...code.matchAll(/ask(?:Aws|ForOne)\(\s*'([\w-]+:\w+)/g)].map(([, name]) => name);
    const policy = deployingPage.blocks.find(({ example }) => example === 'preflight-policy');
    const { Statement } = JSON.parse(policy?.text ?? '{}') as { Statement: { Action: string[] }[] };
    expect(named.length).toBeGreaterThan(10);
    expect(Statement.flatMap(({ Action }) => Action)).toEqual([...new Set(named)].sort());
  });
});
