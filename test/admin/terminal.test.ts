import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { complaintOf } from '../../admin/terminal/complaint.ts';
import { OperatorError } from '../../admin/operator-error.ts';
import { persist } from '../../admin/persistence.ts';
import { NotSetUp } from '../../service/payments/payment-system.ts';
import { OutcomeUnknown, Overloaded } from '../../service/values/errors.ts';
import { seededBytes } from '../fixtures/records.ts';
import { fakeClock } from '../api/fakes.ts';
import { admin } from './admin-run.ts';
import { createProgress, confirm } from '../../admin/terminal/dialogue.ts';
import { createOutput, type Row } from '../../client/command/terminal/output.ts';
import { eventLine } from '../../start/until-stopped.ts';
import { isPrintable } from '../../service/values/text.ts';
import { visibleJson, visibleText } from '../../client/command/terminal/visible-text.ts';

const named = (name: string, more: object = {}): Error => Object.assign(new Error('told'), { name }, more);

/** Runs work that fails this many times with the error, and then succeeds. */
function run(error: unknown, failures: number) {
  const lines: string[] = [];
  let tries = 0;
  const work = async (): Promise<string> => {
    tries += 1;
    if (tries <= failures) throw error;
    return Promise.resolve('done');
  };
  const services = { clock: fakeClock(), randomBytes: seededBytes };
  return {
    result: persist('revoke the key', work, { services, tell: (line) => lines.push(line) }),
    lines,
    tries: () => tries,
  };
}

describe('urgent work', () => {
  it.each<[string, unknown]>([
    ['a busy table', new Overloaded('busy')],
    ['a conflict', named('TransactionConflictException', { $metadata: { httpStatusCode: 400 } })],
    ['a throttle', named('ThrottlingException', { $metadata: { httpStatusCode: 400 } })],
    ['a lost answer', named('Error', { code: 'ECONNRESET' })],
    ['no connection', named('Error', { cause: named('Error', { code: 'ECONNREFUSED' }) })],
    ['no answer in time', named('TimeoutError')],
    ['an error of AWS', named('InternalServerError', { $metadata: { httpStatusCode: 500 } })],
  ])('is repeated after %s until it succeeds', async (_what, error) => {
    const { result, tries } = run(error, 200);
    expect(await result).toBe('done');
    expect(tries()).toBe(201);
  });

  it.each<[string, unknown]>([
    ['a missing permission', named('AccessDeniedException', { $metadata: { httpStatusCode: 400 } })],
    ['missing credentials', named('CredentialsProviderError')],
    ['a refusal of the command', new OperatorError('There is no such key.')],
    ['a defect', new TypeError('undefined is not a function')],
  ])('ends at once after %s', async (_what, error) => {
    const { result, tries } = run(error, 1);
    await expect(result).rejects.toBe(error);
    expect(tries()).toBe(1);
  });

  it('prints its error at most every five seconds, and its success at the end', async () => {
    const { result, lines } = run(new Overloaded('busy'), 10);
    await result;
    // The fake randomness gives pauses that grow from 0.1 s to 2.5 s, together 17 s.
    expect(lines.length).toBeLessThanOrEqual(5);
    expect(lines[0]).toBe(
      'Try 1 to revoke the key failed after 0 s (Overloaded). It is tried again until it succeeds; Ctrl-C ends the command.',
    );
    expect(lines.at(-1)).toBe('Try 11 to revoke the key succeeded.');
  });

  it('prints nothing when the first try succeeds', async () => {
    const { result, lines } = run(undefined, 0);
    await result;
    expect(lines).toEqual([]);
  });
});

describe('the message for an error of a command', () => {
  it.each<[unknown, RegExp]>([
    [new OperatorError('There is no such key.'), /^There is no such key\.$/],
    [new Overloaded('x'), /^The table is too busy, .* repeat the command in a moment\.$/],
    [named('TransactionConflictException'), /^The table is too busy, /],
    [new NotSetUp(), /^The key of Stripe is not set: run `payments set-stripe` first\.$/],
    [new OutcomeUnknown('x'), /^No answer says whether the change was made: look at it/],
    [named('Error', { code: 'ECONNREFUSED' }), /^The service did not answer \(Error: told\): /],
    [
      named('AccessDeniedException', { $metadata: { httpStatusCode: 400 } }),
      /^Something unexpected happened \(AccessDeniedException: told\): .* --debug /,
    ],
    ['thrown text', /^Something unexpected happened \(thrown text\): /],
  ])('is one line that says what to do, for the error %s', (error, sentence) => {
    const { message } = complaintOf(error);
    expect(message).toMatch(sentence);
    expect(message).not.toContain('\n');
  });
});

describe('the progress of a long command', () => {
  it('A line is printed after two seconds, and then at most every two seconds', () => {
    let elapsed = 100;
    const told: string[] = [];
    const progress = createProgress({ elapsed: () => elapsed }, (line) => told.push(line));
    for (const millis of [100, 2_099, 2_100, 2_101, 4_099, 4_100]) {
      elapsed = millis;
      progress(() => `at ${millis}`);
    }
    expect(told).toEqual(['at 2100', 'at 4100']);
  });
});

/** Which service the operator's command works on. */
it('The command refuses --data beside --stack with one sentence, and asks no service', async () => {
  const complaint = '--data and --stack exclude each other: name the folder or the stack.';
  const said = await admin('.darkroom', '--stack', 'Darkroom', 'accounts', 'list');
  expect(said).toEqual({ code: 1, out: '', complaint });
});

/** A terminal on which a person types this text. */
function terminal(
  typed: string,
  isTTY = true,
): { readonly streams: Parameters<typeof confirm>[2]; readonly asked: () => string } {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = new PassThrough();
  stdin.end(`${typed}\n`);
  // PassThrough has every member of a terminal's streams that confirm() uses.
  return { streams: { stdin, stderr } as never, asked: () => String(stderr.read() ?? '') };
}

const sentence = 'This takes the balance below zero.';

describe('a question on a terminal', () => {
  it.each(['yes', 'y', ' YES '])('is confirmed by the answer %j', async (typed) => {
    const { streams, asked } = terminal(typed);
    await confirm(sentence, false, streams);
    expect(asked()).toContain('This takes the balance below zero. Do it? (yes/no) ');
  });

  it.each(['', 'no', 'yesterday'])('is declined by the answer %j', async (typed) => {
    await expect(confirm(sentence, false, terminal(typed).streams)).rejects.toThrow('Nothing was changed.');
  });

  it('is not asked with --yes', async () => {
    const { streams, asked } = terminal('no');
    await confirm(sentence, true, streams);
    expect(asked()).toBe('');
  });

  it('refuses the command when there is no terminal', async () => {
    const refused = confirm(sentence, false, terminal('yes', false).streams);
    await expect(refused).rejects.toThrow(
      'This takes the balance below zero. Nothing was changed: add --yes if you mean it.',
    );
  });
});

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

/** What these pages print: as JSON, or as a table on a terminal with so many columns. */
async function printed(as: 'json' | number, ...pages: readonly (readonly Row[])[]): Promise<string[]> {
  const lines: string[] = [];
  const columns = as === 'json' ? undefined : as;
  const output = createOutput(as === 'json', (line) => lines.push(line), colors, columns);
  await output.pages(pagesOf(...pages), 'There is none.');
  return lines;
}

describe('the output of pages', () => {
  it('A table has one header, and the columns of the first page', async () => {
    expect(await printed(80, [{ id: 'long', n: 1 }], [], [{ id: 'b', n: 2 }])).toEqual([
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
    expect(await printed(39, rows)).toEqual(records);
    expect(await printed(39, rows.slice(0, 1), rows.slice(1))).toEqual(records);
    expect((await printed(40, rows)).slice(1)).toEqual([
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
    expect(await printed(80, [], [])).toEqual(['There is none.']);
  });

  it('The JSON document is one document on several lines', async () => {
    const lines = await printed('json', [{ id: 'a' }], [{ id: 'b' }, { id: 'c' }]);
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines.join('\n'))).toEqual({ data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    expect(JSON.parse((await printed('json')).join('\n'))).toEqual({ data: [] });
  });
});
