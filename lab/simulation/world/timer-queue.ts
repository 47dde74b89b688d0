/** The timers of virtual time, in the order in which they fall due. */

/** A timer as the global functions return it. */
export class Timer {
  dueAt: number;
  /** Among timers that fall due at the same time, the lowest order comes first. */
  order: number;
  /** The period of an interval, in milliseconds. */
  readonly every: number | undefined;
  /** undefined after the timer was cleared or has fired for the last time. */
  callback: (() => void) | undefined;

  constructor(callback: () => void, dueAt: number, order: number, every: number | undefined) {
    this.callback = callback;
    this.dueAt = dueAt;
    this.order = order;
    this.every = every;
  }

  /** Nothing here keeps the process running. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** Node's longest timer. A longer one fires after one millisecond. */
const longestMillis = 2_147_483_647;

export interface TimerQueue {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Sets a timer. With `repeats` it is an interval. */
  readonly set: (callback: () => void, millis: number, repeats?: 'repeats') => Timer;
  /** Moves the time on to the next timer, calls `onTime`, and fires the timer. False when there is none. */
  readonly fireNext: (onTime: (now: number) => void) => boolean;
  /** Whether another timer falls due now. */
  readonly isDue: () => boolean;
  /** Drops all timers and sets the time. */
  readonly reset: (now: number) => void;
}

/** Creates a queue without timers at the time 0. */
export function createTimerQueue(): TimerQueue {
  /** A binary heap. A cleared timer stays in it until its time has come. */
  const heap: Timer[] = [];
  let now = 0;
  let order = 0;
  let isFiring = false;

  function push(timer: Timer): void {
    let index = heap.length;
    heap.push(timer);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (!parent || !isBefore(timer, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = timer;
  }

  function pop(): Timer | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (!last || last === first) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      let child = heap[left];
      if (!child) break;
      let below = left;
      const right = heap[left + 1];
      if (right && isBefore(right, child)) {
        child = right;
        below = left + 1;
      }
      if (!isBefore(child, last)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = last;
    return first;
  }

  function fire(timer: Timer, callback: () => void): void {
    if (timer.every === undefined) timer.callback = undefined;
    else {
      timer.dueAt += timer.every;
      timer.order = order += 1;
      push(timer);
    }
    isFiring = true;
    try {
      callback();
    } finally {
      isFiring = false;
    }
  }

  return {
    now: () => now,
    set: (callback, millis, repeats) => {
      const whole = wholeMillis(millis);
      // As in Node, a timer that a timer sets never fires within the same millisecond.
      const wait = whole === 0 && isFiring ? 1 : whole;
      const timer = new Timer(callback, now + wait, (order += 1), repeats && Math.max(1, whole));
      push(timer);
      return timer;
    },
    fireNext: (onTime) => {
      for (let timer = pop(); timer; timer = pop()) {
        const { callback } = timer;
        if (!callback) continue;
        now = timer.dueAt;
        onTime(now);
        fire(timer, callback);
        return true;
      }
      return false;
    },
    isDue: () => {
      // A cleared timer may stand in front of others. Then they fire with the next step.
      const [first] = heap;
      return first?.callback !== undefined && first.dueAt === now;
    },
    reset: (at) => {
      heap.length = 0;
      now = at;
    },
  };
}

function wholeMillis(millis: number): number {
  if (!Number.isFinite(millis)) return 0;
  return millis > longestMillis ? 1 : Math.max(0, Math.trunc(millis));
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.dueAt === other.dueAt ? one.order < other.order : one.dueAt < other.dueAt;
}
