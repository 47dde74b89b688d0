import { describe, expect, it } from 'vitest';
import { createOutput, type Row } from '../../client/command/terminal/output.ts';
import { eventLine } from '../../start/until-stopped.ts';
import { isPrintable } from '../../service/values/text.ts';
import { visibleJson, visibleText } from '../../client/command/terminal/visible-text.ts';

/**
 * Clears the screen, moves the cursor in the C1 form, deletes, changes the writing direction and ends a line.
 */
const hostile = '\u001b[2J\u009b1A\u007f\u202etxt.exe\u2066\u2028\u0000';

const shown = '\\u001b[2J\\u009b1A\\u007f\\u202etxt.exe\\u2066\\u2028\\u0000';

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('text from clients, vendors and receivers', () => {
  it('is shown with an escape for every control character', () => {
    expect(visibleText(hostile)).toBe(shown);
    expect(visibleText('one\r\n\ttwo')).toBe('one\\r\\n\\ttwo');
    expect(isPrintable(hostile)).toBe(false);
  });

  it('is shown unchanged when it is ordinary text of any language', () => {
    const ordinary = 'Zoë — größer, 湖, שלום, سلام, हिन्दी, 👩‍👩‍👧 "quoted" \\ back';
    expect(visibleText(ordinary)).toBe(ordinary);
    expect(isPrintable(ordinary)).toBe(true);
    expect(isPrintable('\ud800')).toBe(false);
  });

  it('has the same value after it is printed as JSON and parsed', () => {
    const value = { text: hostile, nested: [hostile, 'größer'] };
    expect(visibleJson(value)).not.toMatch(control);
    expect(JSON.parse(visibleJson(value))).toEqual(value);
  });

  it.each([true, false])(
    'brings no control character to the terminal through the output of a command (--json: %s)',
    (json) => {
      const lines: string[] = [];
      const output = createOutput(json, (line) => lines.push(line));
      output.show({ plain: hostile, list: [hostile], object: { [hostile]: hostile } }, hostile);
      output.list([{ plain: hostile, object: [{ hostile }] }], '');
      output.list([], hostile);
      const csv = lines.length;
      output.csv([hostile]);
      // CSV ends its lines with CR LF. The line feed is that of the printer.
      expect(lines.splice(csv).map((line) => line.replace(/\r$/, ''))).toEqual([shown]);
      expect(lines.join('\n')).not.toMatch(control);
      expect(lines.join('\n')).toContain('\\u202etxt.exe');
    },
  );

  it('brings no control character to the terminal through the events of npm start', () => {
    const at = '2026-11-21T12:00:00.000Z';
    const line = eventLine({
      at,
      event: 'creation_accepted',
      model: hostile,
      costMicros: 10_000,
      creationId: hostile,
    });
    expect(line).not.toMatch(control);
    expect(line).toContain(shown);
  });
});

async function* pagesOf(...pages: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  for (const page of pages) yield await Promise.resolve(page);
}

const colors = { dim: String, yellow: String };

async function printedAt(columns: number, ...pages: readonly (readonly Row[])[]): Promise<string[]> {
  const lines: string[] = [];
  const output = createOutput(false, (line) => lines.push(line), colors, columns);
  await output.pages(pagesOf(...pages), 'There is none.');
  return lines;
}

async function printed(json: boolean, ...pages: readonly (readonly Row[])[]): Promise<string[]> {
  const lines: string[] = [];
  await createOutput(json, (line) => lines.push(line), colors).pages(pagesOf(...pages), 'There is none.');
  return lines;
}

describe('the output of pages', () => {
  it('A table has one header, and the columns of the first page', async () => {
    expect(await printed(false, [{ id: 'long', n: 1 }], [], [{ id: 'b', n: 2 }])).toEqual([
      'id    n',
      'long  1',
      'b     2',
    ]);
  });

  it('A table that is wider than the terminal becomes records, and no value is cut', async () => {
    const rows = [
      { id: 'a', note: 'x'.repeat(30), none: null },
      { id: 'b', note: 'y', none: null },
    ];
    const records = ['id    a', `note  ${'x'.repeat(30)}`, 'none  -', '', 'id    b', 'note  y', 'none  -'];
    expect(await printedAt(39, rows)).toEqual(records);
    expect(await printedAt(39, rows.slice(0, 1), rows.slice(1))).toEqual(records);
    expect((await printedAt(40, rows)).slice(1)).toEqual([
      `a   ${'x'.repeat(30)}  -`,
      `b   y${' '.repeat(29)}  -`,
    ]);
  });

  it('A list fits the terminal like pages do', () => {
    const lines: string[] = [];
    createOutput(false, (line) => lines.push(line), colors, 6).list([{ id: 'a', n: 1234567 }], '');
    expect(lines).toEqual(['id  a', 'n   1234567']);
  });

  it('A table without rows says so', async () => {
    expect(await printed(false, [], [])).toEqual(['There is none.']);
  });

  it('The JSON document is one document on several lines', async () => {
    const lines = await printed(true, [{ id: 'a' }], [{ id: 'b' }, { id: 'c' }]);
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines.join('\n'))).toEqual({ data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    expect(JSON.parse((await printed(true)).join('\n'))).toEqual({ data: [] });
  });
});
