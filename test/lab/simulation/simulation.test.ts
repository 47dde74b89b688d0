import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { conflictsOf } from '../../../lab/simulation/clients/narrow-scenarios.ts';
import { createSimulator } from '../../../lab/simulation/runs/simulator.ts';

const simulator = await createSimulator();
afterAll(() => {
  simulator.end();
});
const run = promisify(execFile);
/** `.ci/run` plays 1,000 more. */
const seeds = 60;
/**
 * Every kind of fault and incident that these seeds must meet. `refused` is absent: chance seldom refuses a
 * start, but the walk over all call sites always does.
 */
const everything = [
  'error',
  'errors',
  'lost',
  'all_lost',
  'lost_then_throttled',
  'lost_then_conflicts',
  'throttle',
  'throttles',
  'conflict',
  'conflicts',
  'crash_before',
  'crash_after',
  'crash_late',
  'late',
  'late_answer',
  'hang',
  'invocation thawed',
  'lag',
  'unprocessed',
  'all_unprocessed',
  'twice',
  'unheard',
  'no_room',
  'execution aborted',
  'execution started again',
  'redrive after the end',
  'clock step of all',
  'clock step of one function',
  'clock step of all within a minute of the month’s turn',
  'clock step of one function within a minute of the month’s turn',
  'release before to between',
  'release between to after',
  'release after to between',
  'release after to before',
  'connection of a library lost',
  'connection of a library late',
  'connection of a library cut',
  'connection of a library unheard',
];

/** People change things in the portal, are refused, and meet each other. */
const ofThePortal = [
  'portal-read 200',
  'portal-manage 200',
  'portal-manage 201',
  'portal-manage 202',
  'portal-manage 401',
  'portal-manage 403',
  'portal-manage 409',
  'portal-generate 202',
  'sign-in',
];
/** Programs use an openai library, which repeats calls by itself. */
const ofLibraries = ['openai 200', 'openai 402', 'openai 429', 'openai 502', 'openai 504', 'attached'];
/** Back ends use the operator API: within their rights and beyond them, and against each other. */
const ofBackEnds = [200, 201, 400, 403, 409].map((status) => `operator-api ${status}`);
/** A retry attaches to what an earlier try has charged. */
const attached = /openai#\d+ dynamodb\.UpdateItem RETRY SET #mark ok$/;

/** The line of an invited person who signs in and becomes a member. Its end is the id of a person. */
const letIn = /sign-in guest \d, try \d: [\w-]{43}$/;

describe('The simulation', () => {
  it(
    `No invariant breaks in ${seeds} seeds, and every kind of fault strikes`,
    { timeout: 240_000 },
    async () => {
      const struck = new Set<string>();
      const answered = new Set<string>();
      let faults = 0;
      for (let seed = 0; seed < seeds; seed += 1) {
        const { violations, faults: injected, incidents, answers, trace } = await simulator.runSeed(seed);
        faults += injected.length;
        for (const name of answers.keys()) answered.add(name);
        if (trace.some((line) => letIn.test(line))) answered.add('sign-in');
        if (trace.some((line) => attached.test(line))) answered.add('attached');
        for (const name of [...injected.map(({ kind }) => kind), ...incidents.keys()]) struck.add(name);
        expect(
          violations,
          `seed ${seed}, replayed by: npm run simulate -- --seed ${seed} --trace\n${trace.slice(-40).join('\n')}`,
        ).toEqual([]);
      }
      expect(faults).toBeGreaterThan(seeds);
      expect([...struck]).toEqual(expect.arrayContaining(everything));
      expect([...answered]).toEqual(expect.arrayContaining([...ofThePortal, ...ofLibraries, ...ofBackEnds]));
    },
  );

  it(
    'No request is answered with 500 and every invariant holds while half of all writes meet a conflict',
    { timeout: 120_000 },
    async () => {
      const { answers, faults, violations, trace } = await simulator.run(conflictsOf(1, 0.5));
      expect(violations, trace.slice(-40).join('\n')).toEqual([]);
      expect(faults.length).toBeGreaterThan(100);
      expect([...answers.keys()].filter((name) => name.endsWith(' 500'))).toEqual([]);
      // Requests of every kind were answered. The revoked key got 401 and the suspended account got 403.
      const wanted = [
        'generate 200',
        'generate 202',
        'get 200',
        'list 200',
        'balance 200',
        'quote 200',
        'models 200',
        'get 401',
        'balance 403',
      ];
      expect([...answers.keys()]).toEqual(expect.arrayContaining(wanted));
    },
  );

  it('A seed gives the same trace each time, and another seed gives another trace', async () => {
    const first = await simulator.runSeed(5);
    const between = await simulator.runSeed(6);
    const again = await simulator.runSeed(5);
    expect(again.hash).toBe(first.hash);
    expect(between.hash).not.toBe(first.hash);
  });

  it(
    'The first run of a process gives the same trace as the second run of the same seed',
    { timeout: 60_000 },
    async () => {
      const { stdout } = await run(process.execPath, ['bin/simulate.ts', '--seed', '5'], {
        cwd: new URL('../../../', import.meta.url),
      });
      const [first, second] = stdout.match(/[0-9a-f]{64}/g) ?? [];
      expect(first).toBe(second);
    },
  );
});
