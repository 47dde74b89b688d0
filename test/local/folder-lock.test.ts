import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { connect } from '../../admin/connect.ts';
import { FolderRefused } from '../../local/disk.ts';
import { type FolderLock, lockFolder } from '../../local/folder-lock.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { runningService } from '../../local/service-record.ts';
import { firstLineOf, newFolder } from './machine-fixture.ts';

const childModule = path.join(import.meta.dirname, 'lock-child.ts');

const outcomeSchema = z.object({ pid: z.int(), held: z.boolean(), message: z.string() });
type Outcome = z.output<typeof outcomeSchema>;

/** Takes the folder in this process until the test ends. */
function take(folder: string): FolderLock {
  const lock = lockFolder(folder);
  onTestFinished(lock.release);
  return lock;
}

/** Starts a process and reads the first line that it prints. */
async function startAndRead(
  command: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; outcome: Outcome }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const line = await firstLineOf(child.stdout);
  return { child, outcome: outcomeSchema.parse(JSON.parse(line)) };
}

const takeInChild = (folder: string, ...flags: string[]): ReturnType<typeof startAndRead> =>
  startAndRead(process.execPath, [...flags, childModule, folder]);

/** The error with which the folder is refused. */
function refused(folder: string): unknown {
  try {
    lockFolder(folder);
  } catch (error) {
    return error;
  }
  throw new Error('the folder was given away');
}

/** The state of a process in the letters of `ps`: Z for a zombie, T for a stopped process. */
function stateOf(pid: number): string {
  return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .charAt(0);
}

const writeRecord = (folder: string, record: object): void =>
  writeFileSync(path.join(folder, 'service.json'), JSON.stringify(record));

describe('the lock of a folder', () => {
  it('The lock goes to one of six concurrent processes, and the others get one sentence as the reason', async () => {
    const folder = newFolder();
    const outcomes = (await Promise.all(Array.from({ length: 6 }, () => takeInChild(folder)))).map(
      ({ outcome }) => outcome,
    );
    expect(outcomes.filter(({ held }) => held)).toHaveLength(1);
    for (const { message } of outcomes.filter(({ held }) => !held)) {
      expect(message).toMatch(/^A service already runs on [^\n]+\.$/);
    }
  });

  it('The lock does not go along to a copy of the folder, and can be taken at once after its holder was killed', async () => {
    const folder = newFolder();
    const { child, outcome } = await takeInChild(folder);
    expect(outcome.held).toBe(true);
    const copy = path.join(newFolder(), 'copy');
    cpSync(folder, copy, { recursive: true });
    expect(existsSync(path.join(copy, 'service.json'))).toBe(true);
    take(copy);
    expect(refused(folder)).toMatchObject({ code: 'FOLDER_IN_USE' });
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    expect(existsSync(path.join(folder, 'service.json'))).toBe(true);
    take(folder);
  });

  it.skipIf(process.platform === 'win32')(
    'The lock can be taken from a killed holder that stays a zombie',
    async () => {
      const folder = newFolder();
      // The shell becomes `sleep`, which never waits for the child that the shell had started.
      const script = '"$0" "$1" "$2" & exec sleep 100';
      const { outcome } = await startAndRead('sh', ['-c', script, process.execPath, childModule, folder]);
      const { pid } = outcome;
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => stateOf(pid)).toBe('Z');
      expect(process.kill(pid, 0)).toBe(true);
      take(folder);
    },
  );

  it('The lock can be taken although a new process has the id of the killed holder', () => {
    const folder = newFolder();
    writeRecord(folder, { pid: process.ppid, startedAt: '2026-11-21T12:00:00.000Z', secret: 'x'.repeat(64) });
    take(folder);
    expect(JSON.parse(readFileSync(path.join(folder, 'service.json'), 'utf8'))).toMatchObject({
      pid: process.pid,
    });
  });

  it.skipIf(process.platform === 'win32')(
    'The lock stays with a holder that is stopped and does not answer',
    async () => {
      const folder = newFolder();
      const { child, outcome } = await takeInChild(folder);
      const { pid } = outcome;
      process.kill(pid, 'SIGSTOP');
      await expect.poll(() => stateOf(pid)).toBe('T');
      expect(refused(folder)).toMatchObject({
        code: 'FOLDER_IN_USE',
        message: `A service already runs on ${folder} (process ${pid}, it is still starting).`,
      });
      process.kill(pid, 'SIGCONT');
      child.kill('SIGKILL');
    },
  );

  it('The lock stays with a process that keeps no reference to it', async () => {
    const folder = newFolder();
    const { outcome } = await takeInChild(folder, '--expose-gc');
    expect(outcome.held).toBe(true);
    expect((await takeInChild(folder)).outcome).toMatchObject({ held: false });
  });

  it('The lock is refused a second time in one process, also under another path, and is not freed', async () => {
    const folder = newFolder();
    const alias = path.join(newFolder(), 'alias');
    symlinkSync(folder, alias, 'junction');
    take(folder);
    expect(refused(alias)).toMatchObject({ code: 'FOLDER_IN_USE' });
    expect((await takeInChild(folder)).outcome).toMatchObject({ held: false });
  });

  it('The lock is free after its release, and service.json is deleted', async () => {
    const folder = newFolder();
    const lock = lockFolder(folder);
    lock.release();
    expect(existsSync(path.join(folder, 'service.json'))).toBe(false);
    const { outcome, child } = await takeInChild(folder);
    expect(outcome.held).toBe(true);
    child.kill('SIGKILL');
  });

  it('The lock refuses a damaged file with one sentence that says what to do', () => {
    const folder = newFolder();
    const lock = lockFolder(folder);
    lock.release();
    writeFileSync(path.join(folder, 'lock'), 'damaged'.repeat(1_000));
    const error = refused(folder);
    expect(error).toBeInstanceOf(FolderRefused);
    expect(error).toMatchObject({ code: 'FOLDER_UNUSABLE' });
    expect(String(error)).toContain(`delete ${path.join(folder, 'lock')} when no service`);
    expect(String(error)).not.toContain('\n');
  });

  it('The lock refuses a folder that cannot be made with FOLDER_UNUSABLE', () => {
    const file = path.join(newFolder(), 'file');
    writeFileSync(file, '');
    expect(refused(path.join(file, 'data'))).toMatchObject({ code: 'FOLDER_UNUSABLE' });
  });
});

describe('the address in service.json', () => {
  const addressesAt = (origin: string) => ({
    port: Number(new URL(origin).port),
    apiUrl: `${origin}/api`,
    localUrl: `${origin}/_local`,
    awsUrl: origin,
    outputs: {},
  });

  /**
   * Starts a server that answers `/_local/proof` with `prove` and every other path like a healthy service.
   * Resolves with its origin.
   */
  async function serve(prove: (challenge: string) => string): Promise<string> {
    const server = createServer((incoming, outgoing) => {
      const url = new URL(incoming.url ?? '', 'http://x');
      const state = { offset_seconds: 0, environment: {} };
      outgoing.end(
        JSON.stringify(
          url.pathname === '/_local/proof'
            ? { proof: prove(url.searchParams.get('challenge') ?? '') }
            : state,
        ),
      );
    });
    const port = await listenOnLoopback(server);
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${port}`;
  }

  it('The address is used when the service at the address proves that it holds the folder', async () => {
    const folder = newFolder();
    const lock = take(folder);
    const addresses = addressesAt(await serve(lock.prove));
    lock.announce(addresses);
    expect(await runningService(folder)).toMatchObject(addresses);
  });

  it('The address is not used when the service at the address holds another folder', async () => {
    const folder = newFolder();
    const [lock, other] = [take(folder), take(newFolder())];
    lock.announce(addressesAt(await serve(other.prove)));
    expect(await runningService(folder)).toBeUndefined();
    await expect(connect({ data: folder })).rejects.toThrow('No local service runs in');
  });

  it('The address is not used before the service is ready, without the file, or when the file is malformed', async () => {
    const folder = newFolder();
    const lock = lockFolder(folder);
    expect(await runningService(folder)).toBeUndefined();
    lock.release();
    expect(await runningService(folder)).toBeUndefined();
    mkdirSync(folder, { recursive: true });
    for (const text of ['no JSON', '{}', '{"localUrl":"http://127.0.0.1:1/_local"}']) {
      writeFileSync(path.join(folder, 'service.json'), text);
      expect(await runningService(folder)).toBeUndefined();
    }
  });

  it('The address is not used when no service listens at the address', async () => {
    const folder = newFolder();
    const lock = take(folder);
    lock.announce(addressesAt('http://127.0.0.1:1'));
    expect(await runningService(folder)).toBeUndefined();
  });
});
