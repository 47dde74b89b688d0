import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openDiskRoom, type DiskRoom } from '../../local/disk-room.ts';
import { newFolder } from './machine-fixture.ts';
import { Worker } from 'node:worker_threads';
import { openClock } from '../../local/clock.ts';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openJournal } from '../../local/journal.ts';

const megabyte = 1024 * 1024;

function roomWith(minFreeBytes: number): {
  readonly folder: string;
  readonly room: DiskRoom;
  readonly said: readonly string[];
  readonly has: (bytes: number) => void;
  readonly hasReserve: () => boolean;
} {
  const folder = newFolder();
  const said: string[] = [];
  let free = Infinity;
  return {
    folder,
    room: openDiskRoom({ folder, minFreeBytes, tell: (line) => said.push(line), freeBytes: () => free }),
    said,
    has: (bytes) => (free = bytes),
    hasReserve: () => existsSync(path.join(folder, 'reserve')),
  };
}

describe('the free space of the disk', () => {
  it('is enough from the floor on, and a person is notified once of each change', () => {
    const { folder, room, said, has } = roomWith(100 * megabyte);
    const at = (bytes: number): boolean => {
      has(bytes);
      return room.isEnough();
    };
    expect([
      at(100 * megabyte),
      at(100 * megabyte - 1),
      at(0),
      at(100 * megabyte),
      at(200 * megabyte),
    ]).toEqual([true, false, false, true, true]);
    expect(said).toEqual([
      `The disk of ${folder} has 99 MB left, and new work is refused below 100 MB (--min-free): make room, and the service takes new work again.`,
      `The disk of ${folder} has 100 MB left, and the service takes new work again.`,
    ]);
  });

  it('is always enough without a floor', () => {
    const { room, has } = roomWith(0);
    has(0);
    expect(room.isEnough()).toBe(true);
  });

  it('is asked of the operating system', () => {
    const folder = newFolder();
    const open = (minFreeBytes: number): DiskRoom =>
      openDiskRoom({ folder, minFreeBytes, tell: () => undefined });
    expect([open(1).isEnough(), open(Number.MAX_SAFE_INTEGER).isEnough()]).toEqual([true, false]);
  });
});

describe('the reserve', () => {
  it('is given back to a start on a full disk, and made again when there is room above the floor', () => {
    const { room, has, hasReserve } = roomWith(10 * megabyte);
    room.reserve();
    expect(hasReserve()).toBe(true);
    has(5 * megabyte);
    room.release();
    expect(hasReserve()).toBe(true);
    has(0);
    room.release();
    expect(hasReserve()).toBe(false);
    has(11 * megabyte);
    room.reserve();
    expect(hasReserve()).toBe(false);
    has(14 * megabyte);
    room.reserve();
    expect(hasReserve()).toBe(true);
  });
});

describe('the virtual clock', () => {
  const folder = newFolder(afterAll);
  let real = 1_000_000;
  const realNow = (): number => real;
  const file = (name: string): string => path.join(folder, name, 'clock.json');

  it('The clock flows with real time, stands while it is frozen, and jumps only while it stands', () => {
    const clock = openClock(undefined, realNow);
    expect(clock.now()).toBe(real);
    expect(() => clock.jumpTo(real + 1)).toThrow('only jump while it stands');
    const stands = clock.freeze();
    real += 500;
    expect(clock.now()).toBe(stands);
    clock.jumpTo(stands + 60_000);
    expect(clock.now()).toBe(stands + 60_000);
    clock.jumpTo(stands);
    expect(clock.now()).toBe(stands + 60_000);
    clock.thaw();
    real += 5;
    expect(clock.now()).toBe(stands + 60_005);
  });

  it('A restart does not set the clock back, also when the process was killed in the middle of an advance', () => {
    const clock = openClock(file('killed'), realNow);
    const stands = clock.freeze();
    clock.jumpTo(stands + 900_000);
    real += 20;
    // The process is killed here. The clock is neither thawed nor closed.
    expect(openClock(file('killed'), realNow).now()).toBeGreaterThanOrEqual(stands + 900_000);
  });

  it('The clock writes a jump to disk before it shows the new time', () => {
    const clock = openClock(file('before'), realNow);
    clock.jumpTo(clock.freeze() + 1_000);
    expect(JSON.parse(readFileSync(file('before'), 'utf8'))).toEqual({
      offset_millis: 1_000,
      seen_at: clock.now(),
    });
  });

  it("The clock is not set back when the machine's own clock is set back", () => {
    const clock = openClock(file('machine'), realNow);
    clock.freeze();
    clock.thaw();
    const seen = clock.now();
    real -= 3_600_000;
    expect(openClock(file('machine'), realNow).now()).toBeGreaterThanOrEqual(seen);
    real += 3_600_000;
  });

  it("The clock refuses a file that does not hold a clock's record", () => {
    const strange = file('before');
    writeFileSync(strange, 'hello');
    expect(() => openClock(strange, realNow)).toThrow(/is not a clock's file/);
  });

  it('The clock shows a jump to other threads at once', async () => {
    const clock = openClock();
    clock.jumpTo(clock.freeze() + 86_400_000);
    const worker = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
      parentPort.postMessage(Number(Atomics.load(new BigInt64Array(workerData), 1)))`,
      { eval: true, workerData: clock.shared },
    );
    const seen = await new Promise((resolve) => {
      worker.once('message', resolve);
    });
    expect(seen).toBe(clock.now());
  });
});

const module = fileURLToPath(new URL('../../local/journal.ts', import.meta.url));

/** Runs the program in a process whose files cannot grow beyond so many half kilobytes, and returns its output. */
function withFilesOf(halfKilobytes: number, program: string, file: string): string {
  const source = `import { openJournal } from ${JSON.stringify(module)};\nconst file = ${JSON.stringify(file)};\n${program}`;
  const command = ['-c', `ulimit -f ${halfKilobytes}; exec "$@"`, 'sh', process.execPath];
  const { stdout, stderr } = spawnSync('sh', [...command, '--input-type=module', '-e', source], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout;
}

const appendUntilItFails = `
  const { journal } = openJournal(file, undefined, (failure) => console.log(failure.name, failure.message));
  let kept = 0;
  try { for (;;) { journal.append({ number: kept, text: 'x'.repeat(70) }); kept += 1; } }
  catch { console.log(kept); }`;

function fullJournal(): { readonly file: string; readonly kept: number; readonly said: string } {
  const file = path.join(newFolder(), 'journal.jsonl');
  const [said = '', kept = ''] = withFilesOf(8, appendUntilItFails, file).split('\n');
  return { file, kept: Number(kept), said };
}

describe('a journal that is closed', () => {
  it('lets a call that still waits end, and reports no broken disk', async () => {
    const failures: unknown[] = [];
    const file = path.join(newFolder(), 'journal.jsonl');
    const { journal } = openJournal(file, undefined, (failure) => failures.push(failure));
    journal.append({ number: 1 });
    const waiting = [journal.settled(), journal.settled()];
    await waiting[0];
    const late = journal.settled();
    journal.close();
    await Promise.all([...waiting, late, journal.settled()]);
    expect(failures).toEqual([]);
  });
});

/** The journals of JSON lines on a disk that takes no more bytes. `ulimit -f` refuses the writes of a real file system. */
describe('a journal on a full disk', () => {
  it('says in one sentence that a write failed', () => {
    const { file, kept, said } = fullJournal();
    expect(kept).toBeGreaterThan(10);
    expect(said).toBe(
      `WriteFailed The records in ${file} take no more writes (EFBIG: file too large, write): make room on the disk or repair it, and start the service again.`,
    );
  });

  it('has every entry that was kept, and no part of the entry that was not', () => {
    const { file, kept } = fullJournal();
    expect(readFileSync(file, 'utf8').endsWith('\n')).toBe(false);
    const { entries, journal } = openJournal<{ readonly number: number }>(file);
    journal.append({ number: kept });
    journal.close();
    const again = openJournal<{ readonly number: number }>(file);
    again.journal.close();
    expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: kept }, (_, number) => number));
    expect(again.entries).toHaveLength(kept + 1);
  });

  it('opens while there is no room to rewrite its file, and cuts off the part of an entry', () => {
    const { file, kept } = fullJournal();
    const open = 'console.log(openJournal(file, (entries) => entries.slice(1)).entries.length);';
    expect(withFilesOf(0, open, file)).toBe(`${kept - 1}\n`);
    // The header, each entry, and the end of the last line.
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(kept + 2);
  });
});
