/** The free space of the data folder's disk. Below a floor, only open work and reads go on. */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const megabyte = 1024 * 1024;
/** A start writes far less: its lock, its clock, the key of the demo account, and the beginning of a segment. */
const reserveBytes = 4 * megabyte;
const reserveName = 'reserve';

export type DiskRoom = ReturnType<typeof openDiskRoom>;

export interface DiskRoomOptions {
  readonly folder: string;
  /** The floor. 0: the service takes new work until the disk is full. */
  readonly minFreeBytes: number;
  /** Called with a sentence for a person when the space falls below the floor, or rises above it again. */
  readonly tell: (sentence: string) => void;
  /** The free bytes of the folder's disk. The default asks the operating system. */
  readonly freeBytes?: (folder: string) => number;
}

export function openDiskRoom({ folder, minFreeBytes, tell, freeBytes = freeBytesOf }: DiskRoomOptions) {
  const reserve = path.join(folder, reserveName);
  let wasEnough = true;
  return {
    isEnough: (): boolean => {
      const free = minFreeBytes === 0 ? Infinity : freeBytes(folder);
      const isEnough = free >= minFreeBytes;
      if (isEnough !== wasEnough) tell(sentenceOf(folder, free, minFreeBytes));
      wasEnough = isEnough;
      return isEnough;
    },
    /** Gives the space of the reserve back when the disk has less than that. */
    release: (): void => {
      if (existsSync(reserve) && freeBytes(folder) < reserveBytes) rmSync(reserve);
    },
    /** Makes the reserve, if it is missing and there is room for it above the floor. */
    reserve: (): void => {
      if (minFreeBytes === 0 || existsSync(reserve)) return;
      if (freeBytes(folder) < minFreeBytes + reserveBytes) return;
      try {
        // A file system that compresses would keep zeros in no space.
        writeFileSync(reserve, randomBytes(reserveBytes));
      } catch {
        // The service runs without a reserve as well.
        rmSync(reserve, { force: true });
      }
    },
  };
}

/** The bytes that this process may still write. */
function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function sentenceOf(folder: string, free: number, floor: number): string {
  const [has, needs] = [free, floor].map((bytes) => `${Math.floor(bytes / megabyte)} MB`);
  return free < floor
    ? `The disk of ${folder} has ${has} left, and new work is refused below ${needs} (--min-free): make room, and the service takes new work again.`
    : `The disk of ${folder} has ${has} left, and the service takes new work again.`;
}
