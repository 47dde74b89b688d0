/** One measurement of the one machine: creations over a provider, until the last has ended and the books balance. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount } from '../../admin/commands/accounts.ts';
import { auditTable } from '../../admin/audit-table.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { postAll } from './client-connections.ts';
import { startMeasured, type MeasuredService } from './measured-service.ts';
import { startQuickProvider, type QuickProvider } from './quick-provider.ts';

export interface RunOptions {
  /** The checkout whose service is measured. */
  readonly root: string;
  readonly creations: number;
  readonly connections: number;
  /** How long the provider takes for each picture. */
  readonly waitMillis: number;
  /** How many renderings crash once all creations wait at the provider. */
  readonly crashes: number;
  readonly tell: (line: string) => void;
}

/** The figures of one run. */
export interface RunResult {
  readonly start_s: number;
  readonly accepted_per_s: number;
  readonly completed_per_s: number;
  /** Processor time of the whole service, its start included, for each completed creation. */
  readonly cpu_ms_each: number;
  readonly peak_mb: number;
  readonly completed: number;
  readonly failed: number;
  /** The most requests that waited at the provider at one time. */
  readonly open_at_provider: number;
  readonly books: 'balance' | 'differ';
}

const provider = 'openai';
const model = 'gpt-image-2-low';
const lookMillis = 50;
/** A run that makes no progress for this long is given up. */
const patienceMillis = 120_000;

/** Runs the load once. Throws when a POST is not accepted, or when nothing ends for two minutes. */
export async function runOnce(options: RunOptions): Promise<RunResult> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
  const quick = await startQuickProvider(options.waitMillis);
  const environment = { PROVIDER_BASE_URLS: JSON.stringify({ [provider]: quick.url }) };
  const service = await startMeasured({ root: options.root, folder, environment });
  try {
    return await measure(service, quick, options);
  } finally {
    await service.stop();
    await quick.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(
  service: MeasuredService,
  quick: QuickProvider,
  { creations, connections, crashes, tell }: RunOptions,
): Promise<RunResult> {
  const { operator, ended } = service;
  const key = await openAccount(operator, quick.key);
  const began = performance.now();
  const ids: string[] = [];
  let accepted = 0;
  const sending = postAll({
    api: service.api,
    key,
    model,
    creations,
    connections,
    onAccepted: (id) => {
      ids.push(id);
      accepted += 1;
      if (accepted % 500 === 0) tell(`${accepted} of ${creations} accepted …`);
    },
  });
  await sending;
  const acceptedMillis = performance.now() - began;
  if (crashes > 0) await crashSome(service, quick, ids, crashes);
  const completedMillis = (await untilEnded(service, creations)) - began;
  const { cpuMillis, peakBytes } = service.usage();
  const { completed, failed } = ended;
  return {
    start_s: round(service.startMillis / 1000),
    accepted_per_s: round(creations / (acceptedMillis / 1000)),
    completed_per_s: round(creations / (completedMillis / 1000)),
    cpu_ms_each: round(cpuMillis / completed),
    peak_mb: Math.round(peakBytes / 1e6),
    completed,
    failed,
    open_at_provider: quick.mostOpen(),
    books: await booksOf(operator, creations),
  };
}

/** An account whose limits and money never refuse a request of the run. Gives its key. */
async function openAccount(operator: OperatorServices, providerKey: string): Promise<string> {
  await operator.credentials.set(provider, providerKey);
  await operator.providers.enable(provider);
  const account = await createAccount(operator, {
    name: 'bench',
    balance: '10000',
    postRate: '1000000',
    maxConcurrent: '100000',
    deadline: '720',
  });
  await operator.accounts.change(account.id, { providers: [provider] });
  return (await issueKey(operator, account, { name: 'bench' })).key;
}

/** Waits until all creations wait at the provider, and lets the renderings of the first of them crash. */
async function crashSome(
  { local }: MeasuredService,
  { open }: QuickProvider,
  ids: readonly string[],
  crashes: number,
): Promise<void> {
  const until = performance.now() + patienceMillis;
  while (open() < ids.length && performance.now() < until) await sleep(lookMillis);
  if (open() < ids.length) throw new Error(`only ${open()} of ${ids.length} creations wait at the provider`);
  for (const match of ids.slice(0, crashes)) {
    const body = JSON.stringify({ function: 'RenderImage', match });
    const answer = await fetch(`${local}/crashes`, { method: 'POST', body });
    const text = await answer.text();
    if (text !== '{"crashed":1}') throw new Error(`the rendering of ${match} did not crash: ${text}`);
  }
}

/** The instant at which the last creation has ended, on the clock of performance.now(). */
async function untilEnded({ ended }: MeasuredService, creations: number): Promise<number> {
  let before = -1;
  let since = performance.now();
  for (;;) {
    const now = ended.completed + ended.failed;
    if (now >= creations) return performance.now();
    if (now !== before) since = performance.now();
    before = now;
    if (performance.now() - since > patienceMillis)
      throw new Error(`only ${now} of ${creations} creations have ended, and nothing ends any more`);
    await sleep(lookMillis);
  }
}

async function booksOf(operator: OperatorServices, creations: number): Promise<'balance' | 'differ'> {
  const { counted, differences } = await auditTable(operator);
  return counted.creations === creations && differences.length === 0 ? 'balance' : 'differ';
}

const round = (value: number): number => Math.round(value * 10) / 10;
