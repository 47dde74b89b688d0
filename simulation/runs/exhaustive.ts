/**
 * Every call site times every kind of fault, and all pairs on the sites that move money,
 * on scenarios written to reach every site. A site that only a fault reaches is found by
 * the run that reached it, and joins.
 */
import { kindsFor, type Call, type Fault, type FaultKind } from '../world/faults.ts';
import type { Run, Simulator } from './simulator.ts';
import type { AccountPlan, Scenario, Step, Submit } from '../clients/scenario.ts';

const account: AccountPlan = {
  balanceMicros: 3_000_000,
  creditMicros: 0,
  maxConcurrent: 20,
  deadlineSeconds: 15,
  postRate: 60,
  secret: true,
  keys: [{ capMicros: 2_000_000 }],
};
const plain: Omit<Submit, 'name' | 'at'> = {
  kind: 'submit',
  account: 0,
  key: 0,
  model: 'sandbox-sketch',
  resolution: '1K',
  directives: '',
  images: [],
  polls: 1,
};
const startAt = Date.UTC(2026, 10, 21, 12, 0, 30);

function scenario(seed: number, steps: readonly Step[]): Scenario {
  return {
    seed,
    startAt,
    accounts: [account],
    steps,
    faultProbability: 0,
    calmAfter: 0,
    clockSpreadMillis: 0,
    holdMillis: [3, 25],
    slowBucketMillis: 0,
  };
}

/** Each reaches other sites; together they reach all. */
const bases: readonly Scenario[] = [
  scenario(1, [
    {
      ...plain,
      name: 'a',
      at: 1_000,
      idempotencyKey: 'key-a',
      webhook: 'ok',
      wait: 2,
      images: ['https://sources.test/one.png'],
      model: 'sandbox-standard',
    },
    {
      ...plain,
      name: 'b',
      at: 1_500,
      directives: '[sandbox:fail]',
      idempotencyKey: 'key-b',
      webhook: 'flaky',
    },
    {
      ...plain,
      name: 'b again',
      at: 8_000,
      directives: '[sandbox:fail]',
      idempotencyKey: 'key-b',
      webhook: 'flaky',
    },
  ]),
  scenario(2, [
    { ...plain, name: 'c', at: 1_000, directives: '[sandbox:async=2s]', idempotencyKey: 'key-c' },
    { ...plain, name: 'c again', at: 2_000, directives: '[sandbox:async=2s]', idempotencyKey: 'key-c' },
    {
      ...plain,
      name: 'd',
      at: 1_000,
      directives: '[sandbox:down=sandbox]',
      model: 'sandbox-pro',
      resolution: '2K',
      webhook: 'gone',
    },
    { kind: 'stranger', at: 500, account: 0 },
    { kind: 'redeliver', at: 20_000, account: 0 },
  ]),
  scenario(3, [
    { kind: 'top_up', at: 600, account: 0, amountMicros: 500_000, reference: 'one' },
    { kind: 'adjust', at: 700, account: 0, amountMicros: -100_000 },
    { kind: 'credit_line', at: 800, account: 0, amountMicros: 200_000 },
    { ...plain, name: 'e', at: 1_000, directives: '[sandbox:hang]', webhook: 'ok' },
    { ...plain, name: 'f', at: 1_200, directives: '[sandbox:delay=4s]' },
    { kind: 'rotate_secret', at: 1_100, account: 0 },
    { kind: 'abort', at: 1_900, account: 0 },
    { kind: 'suspend', at: 9_000, account: 0 },
    { kind: 'activate', at: 9_500, account: 0 },
    { kind: 'list', at: 5_000, account: 0, key: 0 },
    { kind: 'balance', at: 5_500, account: 0, key: 0 },
    { kind: 'quote', at: 6_000, account: 0, key: 0 },
    { kind: 'models', at: 6_200, account: 0, key: 0 },
    { kind: 'test_delivery', at: 7_000, account: 0, webhook: 'ok' },
    { kind: 'test_delivery', at: 8_000, account: 0, webhook: 'ok' },
    { kind: 'revoke', at: 10_000, account: 0, key: 0 },
  ]),
];

export interface Exhausted {
  readonly sites: number;
  readonly runs: number;
  readonly failures: readonly {
    readonly base: Scenario;
    readonly faults: readonly Fault[];
    readonly run: Run;
  }[];
  /** Sites at which a fault struck. */
  readonly struck: ReadonlySet<string>;
  readonly reached: ReadonlySet<string>;
  /** How often each kind of fault struck. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** Sites whose calls take, give back or settle money, or decide whether it will be. */
function movesMoney({ service, operation }: Pick<Call, 'service' | 'operation'>): boolean {
  return operation === 'TransactWriteItems' || (service === 'states' && operation === 'StartExecution');
}

/** Kinds that the SDK's own retry absorbs: behind it nothing is seen of them but time, and in pairs they only repeat the other fault. */
const absorbed: ReadonlySet<FaultKind> = new Set(['error', 'lost', 'throttle', 'conflict']);

export interface ExhaustOptions {
  readonly pairs: boolean;
  /** Of so many parts of the work, this one. */
  readonly part?: { readonly index: number; readonly of: number };
  /** A cheaper walk: one kind a site instead of all. */
  readonly oneKind?: boolean;
  readonly onRun?: (runs: number) => void;
}

/** Runs all of it. Work is dealt by the index of its first fault. */
export async function exhaust(
  simulator: Simulator,
  { pairs, part = { index: 0, of: 1 }, oneKind = false, onRun }: ExhaustOptions,
): Promise<Exhausted> {
  const failures: { base: Scenario; faults: readonly Fault[]; run: Run }[] = [];
  const struck = new Set<string>();
  const reached = new Set<string>();
  const struckBy: Record<string, number> = {};
  let runs = 0;
  const run = async (base: Scenario, faults: readonly Fault[]): Promise<Run> => {
    const ran = await simulator.run(base, faults);
    runs += 1;
    for (const site of ran.sites.keys()) reached.add(site);
    for (const { site, kind } of ran.faults) {
      struck.add(site);
      struckBy[kind] = (struckBy[kind] ?? 0) + 1;
    }
    if (ran.violations.length > 0) failures.push({ base, faults, run: ran });
    onRun?.(runs);
    return ran;
  };
  for (const base of bases) {
    let dealt = 0;
    const calm = await run(base, []);
    const queue = [...calm.sites.values()].map(
      ({ call }): { site: Omit<Call, 'occurrence'>; before: readonly Fault[] } => ({
        site: call,
        before: [],
      }),
    );
    const known = new Set(calm.sites.keys());
    for (const { site, before } of queue) {
      const kinds = kindsFor(site);
      for (const kind of oneKind ? [kinds[dealt % kinds.length] ?? kinds[0]] : kinds) {
        dealt += 1;
        // What only one part came upon is that part's alone.
        if (before.length === 0 && dealt % part.of !== part.index) continue;
        const faults: readonly Fault[] = [...before, { site: site.site, occurrence: 1, kind }];
        const ran = await run(base, faults);
        for (const [name, { call }] of ran.sites) {
          if (known.has(name)) continue;
          known.add(name);
          queue.push({ site: call, before: faults });
        }
        if (pairs && before.length === 0 && movesMoney(site) && !absorbed.has(kind))
          await runPairs(base, faults, ran, [...calm.sites.keys()]);
      }
    }
  }

  /** A pair is one, whichever of its faults is named first: of two sites that the calm run calls, the second is the later. */
  async function runPairs(
    base: Scenario,
    first: readonly Fault[],
    ran: Run,
    calmSites: readonly string[],
  ): Promise<void> {
    const place = calmSites.indexOf(first[0]?.site ?? '');
    for (const { call, count } of ran.sites.values()) {
      if (!movesMoney(call)) continue;
      const other = calmSites.indexOf(call.site);
      if (other !== -1 && other < place) continue;
      const again = call.site === first[0]?.site ? 2 : 1;
      if (count < again) continue;
      for (const kind of kindsFor(call).filter((one) => !absorbed.has(one)))
        await run(base, [...first, { site: call.site, occurrence: again, kind }]);
    }
  }

  return { sites: reached.size, runs, failures, struck, reached, kinds: struckBy };
}
