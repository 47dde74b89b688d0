import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDiskRoom, type DiskRoom } from '../../local/disk-room.ts';
import { temporaryFolder } from './machine-fixture.ts';

const megabyte = 1024 * 1024;

function roomWith(minFreeBytes: number): {
  readonly folder: string;
  readonly room: DiskRoom;
  readonly said: readonly string[];
  readonly has: (bytes: number) => void;
  readonly hasReserve: () => boolean;
} {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
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
  it('is enough from the floor on, and a person hears once of each change', () => {
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
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
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
