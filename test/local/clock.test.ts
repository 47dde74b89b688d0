import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { openClock } from '../../local/clock.ts';
import { temporaryFolder } from './machine-fixture.ts';

describe('the virtual clock', () => {
  const { folder, remove } = temporaryFolder();
  afterAll(remove);
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
