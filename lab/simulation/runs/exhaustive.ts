/**
 * Strikes every call site with every kind of fault. With `pairs` it also strikes every two calls that move money. A
 * site that is reached only after a fault joins the walk when a run reaches it.
 */
import {
  type AccountPlan,
  type BackEndAct,
  type PortalAct,
  rich,
  type Scenario,
  type Step,
  type Submit,
  undisturbed,
} from '../clients/scenario.ts';
import { type Call, type Fault, type FaultKind, kindsFor } from '../world/faults.ts';
import type { Run, Simulator } from './simulator.ts';

const account: AccountPlan = {
  ...rich,
  balanceMicros: 3_000_000,
  maxConcurrent: 20,
  deadlineSeconds: 15,
  postRate: 60,
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
const follower = { kind: 'events', account: 0, key: 0, limit: 2, isNotified: false, notices: false } as const;
const library = {
  kind: 'openai',
  account: 0,
  key: 0,
  apart: 0,
  model: 'sandbox-sketch',
  trouble: 0.8,
} as const;
const startAt = Date.UTC(2026, 10, 21, 12, 0, 30);

function scenario(seed: number, steps: readonly Step[]): Scenario {
  return { ...undisturbed, seed, startAt, accounts: [account], steps, calmAfter: 0 };
}

function person(name: string, at: number, who: number, act: PortalAct): Step {
  return { kind: 'portal', name, at, account: 0, person: who, thinkMillis: 0, act };
}

/** The first key has no cap and is never revoked. */
function backEnd(name: string, at: number, act: BackEndAct, operatorKey = 0): Step {
  return { kind: 'back_end', name, at, account: 0, operatorKey, act, idempotencyKey: name };
}

const operatorKey = {
  scopes: ['accounts:read', 'accounts:write', 'keys:write', 'wallet:credit', 'wallet:adjust'],
} as const;

/** Each scenario reaches other call sites. Together they reach all of them. */
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
    { kind: 'upload', at: 2_000, account: 0, key: 0, name: 'picture', fill: 'right' },
    {
      ...plain,
      name: 'with the upload',
      at: 4_000,
      model: 'sandbox-standard',
      images: ['upload:picture'],
    },
    { kind: 'list', at: 5_000, account: 0, key: 0 },
    { kind: 'balance', at: 5_500, account: 0, key: 0 },
    { kind: 'quote', at: 6_000, account: 0, key: 0 },
    { kind: 'models', at: 6_200, account: 0, key: 0 },
    { kind: 'test_delivery', at: 7_000, account: 0, webhook: 'ok' },
    { kind: 'test_delivery', at: 8_000, account: 0, webhook: 'ok' },
    { kind: 'revoke', at: 10_000, account: 0, key: 0 },
  ]),
  scenario(4, [
    { ...follower, name: 'slow', at: 500, reads: 4, wait: 2, pauseMillis: 9_000 },
    { ...follower, name: 'fast', at: 600, reads: 9, wait: 0, pauseMillis: 700 },
    { ...plain, name: 'g', at: 400, directives: '[sandbox:delay=1s]', webhook: 'ok' },
    { ...plain, name: 'h', at: 3_000, directives: '[sandbox:fail]' },
    { ...plain, name: 'i', at: 3_500, webhook: 'ok' },
    { kind: 'redeliver', at: 6_000, account: 0 },
  ]),
  scenario(5, [
    { ...plain, name: 'j', at: 400, webhook: 'gone', directives: '[sandbox:delay=1s]' },
    person('a', 500, 0, { does: 'create_key' }),
    person('b', 600, 1, { does: 'change_key', key: 0, cap: 'dailyCapMicros', capMicros: 1_000_000 }),
    person('c', 900, 0, { does: 'roll_key', key: 2, endsIn: '24h' }),
    person('d', 1_200, 1, { does: 'revoke_key', key: 2 }),
    person('e', 1_300, 0, { does: 'rotate_secret', signFrom: 'now' }),
    person('f', 1_500, 2, { does: 'reveal_secret' }),
    person('g', 1_600, 2, { does: 'set_alerts', lowMicros: 10_000, receiver: 'ok' }),
    person('h', 1_700, 2, { does: 'test_webhook', webhook: 'ok' }),
    person('i', 1_800, 2, { does: 'create', directives: '[sandbox:delay=4s]', idempotencyKey: 'portal-0' }),
    person('j', 2_000, 2, { does: 'create', directives: '[sandbox:delay=4s]', idempotencyKey: 'portal-0' }),
    person('k', 2_500, 0, { does: 'cancel' }),
    person('l', 3_000, 0, { does: 'invite', address: 0, role: 'viewer' }),
    person('m', 3_500, 0, { does: 'withdraw', address: 0 }),
    person('s', 4_000, 0, { does: 'invite', address: 1, role: 'owner' }),
    { kind: 'sign_in', name: 't', at: 5_000, account: 0, address: 1, who: 0 },
    { kind: 'sign_in', name: 'u', at: 5_005, account: 0, address: 1, who: 1 },
    person('n', 7_000, 2, { does: 'redeliver_failed' }),
    person('o', 9_000, 2, { does: 'redeliver_one' }),
    person('p', 10_000, 0, { does: 'end_sessions', target: 2 }),
    person('q', 10_500, 0, { does: 'change_person', target: 1, role: 'developer' }),
    person('r', 11_000, 0, { does: 'remove_person', target: 1 }),
  ]),
  // The connections of these calls break by the seed, so that their retries attach, and one replaces a failure.
  scenario(6, [
    {
      ...library,
      name: 'k',
      at: 400,
      calls: 2,
      count: 2,
      directives: '[sandbox:delay=1s]',
      form: 'b64_json',
    },
    { ...library, name: 'l', at: 600, calls: 1, count: 1, directives: '[sandbox:fail]', form: 'url' },
    { ...library, name: 'm', at: 800, calls: 1, count: 2, directives: '', form: 'stream' },
  ]),
  {
    ...scenario(7, [
      backEnd('a', 500, { does: 'open', externalId: 'customer', balanceMicros: 100_000 }),
      backEnd('b', 505, { does: 'open', externalId: 'customer', balanceMicros: 100_000 }, 1),
      backEnd('c', 1_000, { does: 'credit', amountMicros: 100_000, reference: 'one' }),
      backEnd('d', 1_005, { does: 'credit', amountMicros: 100_000, reference: 'one' }, 1),
      backEnd('e', 1_500, { does: 'reverse', payment: 'one', reference: 'back', amountMicros: 60_000 }),
      backEnd('f', 1_505, { does: 'reverse', payment: 'one', reference: 'rest' }, 1),
      backEnd('g', 2_000, { does: 'adjust', amountMicros: -5_000_000, reference: 'fee', mayGoBelow: false }),
      backEnd('h', 2_500, { does: 'credit_line', amountMicros: 50_000 }, 1),
      backEnd('i', 3_000, { does: 'issue_key', isRevoked: true }),
      backEnd('j', 3_500, { does: 'suspend', externalId: 'customer' }),
      backEnd('k', 5_000, { does: 'activate', externalId: 'first' }),
      backEnd('l', 6_000, { does: 'read', what: 'listLedger' }),
      { kind: 'revoke_operator_key', at: 7_000, account: 0, operatorKey: 1 },
      backEnd('m', 9_000, { does: 'read', what: 'getWallet' }, 1),
    ]),
    operatorKeys: [operatorKey, { ...operatorKey, dailyCapMicros: 320_000 }],
  },
];

export interface Exhausted {
  readonly runs: number;
  readonly failures: readonly {
    readonly base: Scenario;
    readonly faults: readonly Fault[];
    readonly run: Run;
  }[];
  /** The call sites at which a fault struck. */
  readonly struck: ReadonlySet<string>;
  readonly reached: ReadonlySet<string>;
  /** How often each kind of fault struck. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** Whether the calls of a site take, give back or settle money, or decide whether that will happen. */
function movesMoney({ service, operation }: Pick<Call, 'service' | 'operation'>): boolean {
  return operation === 'TransactWriteItems' || (service === 'states' && operation === 'StartExecution');
}

/**
 * The kinds that the SDK's own retry absorbs. The product sees only a slower call, so a pair with such a
 * fault repeats the run with the other fault alone.
 */
const absorbed: ReadonlySet<FaultKind> = new Set(['error', 'lost', 'throttle', 'conflict']);

export interface ExhaustOptions {
  readonly pairs: boolean;
  /** Which part of the work to do, when several processes share it. */
  readonly part?: { readonly index: number; readonly of: number };
  /** Strikes each site once, with one kind of fault, which is cheaper. */
  readonly oneKind?: boolean;
  readonly onRun?: (runs: number) => void;
}

/** Runs the walk, or its part. The number of a run's first fault decides to which part the run belongs. */
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
    const queue: { site: Omit<Call, 'occurrence'>; before: readonly Fault[] }[] = [];
    for (const { call } of calm.sites.values()) queue.push({ site: call, before: [] });
    const known = new Set(calm.sites.keys());
    for (const { site, before } of queue) {
      // Another scenario has struck it.
      if (oneKind && struck.has(site.site)) continue;
      const kinds = kindsFor(site);
      for (const kind of oneKind ? [kinds[dealt % kinds.length] ?? kinds[0]] : kinds) {
        dealt += 1;
        // A site that only a fault reaches is known to this part alone, so this part does all of its runs.
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

  /**
   * Strikes a second call beside the first. A pair counts once, whichever of its faults comes first in the
   * list: if the calm run calls both sites, the second site must be the later one.
   */
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

  return { runs, failures, struck, reached, kinds: struckBy };
}
