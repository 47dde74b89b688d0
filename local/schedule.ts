import type { VirtualClock } from './clock.ts';

export interface Job {
  readonly name: string;
  readonly everySeconds: number;
  /** Runs the job that was due at this time. A rejection is reported and ends nothing. */
  readonly run: (at: number) => Promise<unknown>;
  /** fireDue() waits for the end of the run. A function's run is not awaited, because it may hang. */
  readonly isAwaited?: boolean;
}

export type Schedule = ReturnType<typeof createSchedule>;

interface Entry {
  readonly job: Job;
  nextAt: number;
  running: Promise<unknown>;
}

const longestTimerMillis = 2_000_000_000;

/**
 * Fires each job at whole multiples of its interval, such as whole minutes or whole hours. With `firesByItself`
 * false, jobs fire only in an advance: a test then counts the same calls whenever it runs.
 */
export function createSchedule(
  jobs: readonly Job[],
  clock: VirtualClock,
  onError: (job: string, error: unknown) => void,
  firesByItself = true,
) {
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
    // After a sleep or a jump over several intervals the job runs once.
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
    /** From now on jobs fire by themselves while the clock flows, first at the next whole interval. */
    start: (): void => {
      clearTimeout(timer);
      if (firesByItself) arm();
    },
    /** Stops jobs from firing by themselves. An advance then calls fireDue(). */
    pause: (): void => clearTimeout(timer),
    /** When the next job is due. With `leastSeconds`, a shorter interval counts as that long. */
    nextAt: (leastSeconds = 0): number | undefined => {
      const instants = entries.map(({ job, nextAt }) =>
        job.everySeconds >= leastSeconds ? nextAt : nextWhole(leastSeconds),
      );
      return instants.length === 0 ? undefined : Math.min(...instants);
    },
    /** Starts the jobs that are due now. Waits for a job's last run before it starts the job again. */
    fireDue: async (): Promise<void> => {
      for (const entry of due()) {
        await entry.running;
        fire(entry);
        if (entry.job.isAwaited === true) await entry.running;
      }
    },
    /** The next time of each job, for people. */
    state: (): { name: string; nextAt: number }[] =>
      entries.map(({ job, nextAt }) => ({ name: job.name, nextAt })),
  };
}
