import type { VirtualClock } from './clock.ts';

export interface Job {
  readonly name: string;
  readonly everySeconds: number;
  /** Runs the job that was due at this instant. A rejection is reported and ends nothing. */
  readonly run: (at: number) => Promise<unknown>;
  /** fireDue() waits for the end of the run. A function's run is not awaited, because it may hang. */
  readonly isAwaited?: boolean;
}

/** Fires each job at whole multiples of its interval, such as whole minutes or whole hours. */
export interface Schedule {
  /** From now on jobs fire by themselves while the clock flows, first at the next whole interval. */
  readonly start: () => void;
  /** Stops jobs from firing by themselves. An advance then calls fireDue(). */
  readonly pause: () => void;
  /** When the next job is due. With `leastSeconds`, a shorter interval counts as that long. */
  readonly nextAt: (leastSeconds?: number) => number | undefined;
  /** Starts the jobs that are due now. Waits for a job's last run before it starts the job again. */
  readonly fireDue: () => Promise<void>;
  /** The next instant of each job, for people. */
  readonly state: () => readonly { readonly name: string; readonly nextAt: number }[];
}

interface Entry {
  readonly job: Job;
  nextAt: number;
  running: Promise<unknown>;
}

const longestTimerMillis = 2_000_000_000;

/** Makes the schedule. No job fires before start(). */
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
        if (entry.job.isAwaited === true) await entry.running;
      }
    },
    state: () => entries.map(({ job, nextAt }) => ({ name: job.name, nextAt })),
  };
}
