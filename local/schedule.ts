import type { VirtualClock } from './clock.ts';

/** Something that is done again and again. */
export interface Job {
  readonly name: string;
  readonly everySeconds: number;
  /** `at` is the instant it was due, in milliseconds since 1970. Rejections are reported, not fatal. */
  readonly run: (at: number) => Promise<unknown>;
}

/** Fires jobs at whole multiples of their interval: whole minutes, whole hours. */
export interface Schedule {
  /** Fires by itself while the clock flows. The first time is the next whole interval. */
  readonly start: () => void;
  /** Ends firing by itself, while an advance fires what is due. */
  readonly pause: () => void;
  /** When the next job is due; with `leastSeconds`, as if none came oftener than that. */
  readonly nextAt: (leastSeconds?: number) => number | undefined;
  /** Starts what is due now. Waits for the last run of a job before it starts the next one. */
  readonly fireDue: () => Promise<void>;
  /** For people: the next instant of each job. */
  readonly state: () => readonly { readonly name: string; readonly nextAt: number }[];
}

interface Entry {
  readonly job: Job;
  nextAt: number;
  running: Promise<unknown>;
}

const longestTimerMillis = 2_000_000_000;

/** Makes the schedule; nothing fires before start(). */
export function createSchedule(
  jobs: readonly Job[],
  clock: VirtualClock,
  onError: (job: string, error: unknown) => void,
): Schedule {
  const nextWhole = (everySeconds: number): number => {
    const every = everySeconds * 1_000;
    return (Math.floor(clock.now() / every) + 1) * every;
  };
  const entries: Entry[] = jobs.map((job) => ({
    job,
    nextAt: nextWhole(job.everySeconds),
    running: Promise.resolve(),
  }));
  let timer: NodeJS.Timeout | undefined;

  async function run({ name, run: start }: Job, at: number): Promise<void> {
    try {
      await start(at);
    } catch (error) {
      onError(name, error);
    }
  }
  function fire(entry: Entry): void {
    // What was missed while the machine slept, or was stepped over, is done once and not made up for.
    entry.nextAt = nextWhole(entry.job.everySeconds);
    entry.running = run(entry.job, entry.nextAt - entry.job.everySeconds * 1_000);
  }
  const due = (): Entry[] => entries.filter(({ nextAt }) => nextAt <= clock.now());

  function arm(): void {
    const nextAt = Math.min(...entries.map((entry) => entry.nextAt));
    if (!Number.isFinite(nextAt)) return;
    timer = setTimeout(
      () => {
        for (const entry of due()) fire(entry);
        arm();
      },
      Math.min(Math.max(nextAt - clock.now(), 1), longestTimerMillis),
    );
    timer.unref();
  }
  return {
    start: () => {
      clearTimeout(timer);
      arm();
    },
    pause: () => clearTimeout(timer),
    nextAt: (leastSeconds = 0) => {
      const instants = entries.map(({ job, nextAt }) =>
        job.everySeconds >= leastSeconds ? nextAt : nextWhole(leastSeconds),
      );
      return instants.length === 0 ? undefined : Math.min(...instants);
    },
    fireDue: async () => {
      for (const entry of due()) {
        await entry.running;
        fire(entry);
      }
    },
    state: () => entries.map(({ job, nextAt }) => ({ name: job.name, nextAt })),
  };
}
