/** Limits the number of tasks that run at once. The others wait in the order in which they came. */
export function createSlots(most: number): (task: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return async (task) => {
    if (taken >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken += 1;
    try {
      await task();
    } finally {
      // The slot goes to the next task, or becomes free.
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    }
  };
}
