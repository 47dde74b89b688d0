/** What a process has used so far, as Linux counts it. All threads of the process are counted together. */
import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  /** Processor time of the process in user and system mode, in milliseconds. */
  readonly cpuMillis: number;
  /** The largest resident memory so far, in bytes. */
  readonly peakBytes: number;
}

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick is (man 5 proc). */
const tickMillis = 10;

/** Reads the usage of a running process. Throws on a system without /proc. */
export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in brackets and may hold blanks. utime and stime are the fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMillis: (Number(fields[11]) + Number(fields[12])) * tickMillis,
    peakBytes: Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024,
  };
}
