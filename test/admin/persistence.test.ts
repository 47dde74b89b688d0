import { describe, expect, it } from 'vitest';
import { complaintOf } from '../../admin/terminal/complaint.ts';
import { OperatorError } from '../../admin/operator-error.ts';
import { persist } from '../../admin/persistence.ts';
import { OutcomeUnknown, Overloaded } from '../../service/values/errors.ts';
import { seededBytes } from '../fixtures/records.ts';
import { fakeClock } from '../api/fakes.ts';
import { createProgress } from '../../admin/terminal/dialogue.ts';
import { runAdmin } from '../../admin/program.ts';

const named = (name: string, more: object = {}): Error => Object.assign(new Error('told'), { name }, more);

interface Run {
  readonly result: Promise<string>;
  readonly lines: string[];
  readonly tries: () => number;
}

/** Runs work that fails this many times with the error, and then succeeds. */
function run(error: unknown, failures: number): Run {
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
  it('A line is told after two seconds, and then at most every two seconds', () => {
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
  const printed: string[] = [];
  const complained: string[] = [];
  const said = {
    print: (line: string) => void printed.push(line),
    complain: (line: string) => void complained.push(line),
  };
  const code = await runAdmin(['--data', '.darkroom', '--stack', 'Darkroom', 'accounts', 'list'], said);
  expect([code, printed, complained]).toEqual([
    1,
    [],
    ['--data and --stack exclude each other: name the folder or the stack.'],
  ]);
});
