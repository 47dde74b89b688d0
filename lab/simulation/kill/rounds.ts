/**
 * Kills the service again and again under load, and starts it again on the same data folder. The promises are
 * those of the simulation, but the sockets and the files are real.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAccount } from '../../../admin/commands/accounts.ts';
import { issueKey } from '../../../admin/commands/keys.ts';
import { issueSecret } from '../../../admin/commands/webhooks.ts';
import { connect } from '../../../admin/connect.ts';
import type { OperatorServices } from '../../../admin/services.ts';
import { isTerminal } from '../../../service/creations/creation.ts';
import type { AccountId, CreationId } from '../../../service/values/ids.ts';
import type { KillReport } from '../messages.ts';
import { createDice } from '../world/dice.ts';
import { type Load, startLoad, startReceiver } from './client-load.ts';
import { prove } from './prove-nothing-lost.ts';

export interface KillOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly clients: number;
  /** How long the service lives in each round, at least and at most, in milliseconds. */
  readonly lives: readonly [leastMillis: number, mostMillis: number];
  readonly onLine: (line: string) => void;
}

/** The balances of the accounts. The money of the last account does not suffice. */
const balances = ['1000', '1000', '1'] as const;

/** Runs all rounds, waits until no work is open, and checks that nothing was lost. */
export async function runKillLoad({
  seed,
  rounds,
  clients,
  lives,
  onLine,
}: KillOptions): Promise<KillReport> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-kill-load-'));
  const port = await freePort();
  const receiver = await startReceiver();
  const dice = createDice(seed);
  let service: RunningProcess = await startProcess(folder, port);
  try {
    const accounts = await openAccounts(service.operator);
    const load = startLoad({
      dice,
      clients,
      receiver,
      apiUrl: `http://127.0.0.1:${port}/api/public/v1`,
      keys: accounts.map(({ key }) => key),
    });
    const count = endedCounter(load);
    for (let round = 1; round <= rounds; round += 1) {
      const millis = dice.between(`round ${round}`, ...lives);
      await sleep(millis);
      // The kill must interrupt a request, so it waits until a client has sent one.
      while (load.underWay === 0) await sleep(1);
      await service.kill();
      service = await startProcess(folder, port);
      const accepted = load.sent.filter((sent) => sent.accepted.size > 0).length;
      const ended = await count(service.operator);
      onLine(
        `round ${String(round).padStart(2)}: ${load.requests} requests, ${accepted} accepted, ` +
          `${load.retried} retried, ${ended} ended, ${receiver.arrivals.length} webhooks · killed after ${millis} ms`,
      );
    }
    await load.stop();
    await rest(service);
    const proof = await prove({
      operator: service.operator,
      accounts,
      sent: load.sent,
      arrivals: receiver.arrivals,
    });
    return {
      requests: load.requests,
      retried: load.retried,
      accepted: load.sent.filter((sent) => sent.accepted.size > 0).length,
      webhooks: receiver.arrivals.length,
      ...proof,
    };
  } finally {
    await service.kill();
    await receiver.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openAccounts(
  operator: OperatorServices,
): Promise<{ id: AccountId; key: string; secret: string }[]> {
  return Promise.all(
    balances.map(async (balance) => {
      const account = await createAccount(operator, {
        sandbox: 'yes',
        name: `client with ${balance} USD`,
        balance,
        postRate: '100000',
        maxConcurrent: '100',
        deadline: '30',
      });
      const { key } = await issueKey(operator, account, { name: 'load' });
      return { id: account.id, key, secret: String((await issueSecret(operator, account))['secret']) };
    }),
  );
}

/** Counts the accepted creations that have ended. */
function endedCounter(load: Load): (operator: OperatorServices) => Promise<number> {
  const ended = new Set<string>();
  return async (operator) => {
    for (const id of load.sent.flatMap(({ accepted }) => [...accepted])) {
      if (ended.has(id)) continue;
      const creation = await operator.creations.read(id as CreationId);
      if (creation && isTerminal(creation.status)) ended.add(id);
    }
    return ended.size;
  };
}

/**
 * The local service's clock stands still while it is set forward, so a job that a provider has just got would
 * never be done. This pause lets such jobs finish first.
 */
const jobsMillis = 2_000;
const restStepSeconds = 120;
const mostSteps = 120;

/** Sets the clock forward until no work is open. */
async function rest({ operator, advance }: RunningProcess): Promise<void> {
  await sleep(jobsMillis);
  for (let step = 0; step < mostSteps; step += 1) {
    await advance(restStepSeconds);
    if (!(await hasOpenWork(operator))) return;
  }
  throw new Error(`work is still open after ${mostSteps} steps of ${restStepSeconds} s`);
}

async function hasOpenWork({ openWork }: OperatorServices): Promise<boolean> {
  for (const pages of openWork.overdue(Number.MAX_SAFE_INTEGER))
    for await (const page of pages) if (page.length > 0) return true;
  return false;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

interface RunningProcess {
  readonly operator: OperatorServices;
  /** Sets the clock forward. Everything that falls due on the way happens at its own time. */
  readonly advance: (seconds: number) => Promise<void>;
  /** Kills the process with SIGKILL. */
  readonly kill: () => Promise<void>;
}

/** Starts the service and waits for its ready line. */
async function startProcess(folder: string, port: number): Promise<RunningProcess> {
  const child = spawn(
    process.execPath,
    ['bin/local.ts', '--json', '--data', folder, '--port', String(port)],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(String(chunk)));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = (await Promise.race([once(lines, 'line'), exited])) as [string];
  if (typeof first[0] !== 'string' || !first[0].startsWith('{'))
    throw new Error(`the service did not start: ${complaints.join('')}`);
  const { local } = JSON.parse(first[0]) as { local: string };
  return {
    operator: await connect({ data: folder }),
    advance: async (seconds) => {
      const response = await fetch(`${local}/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ advance_seconds: seconds }),
      });
      if (response.status !== 200) throw new Error(`the clock was not set: ${await response.text()}`);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Returns a port that is free now. The service uses the same port in all rounds. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const { port } = address;
  server.close();
  await once(server, 'close');
  return port;
}
