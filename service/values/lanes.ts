/** Works on each part once, with limited concurrency. The first error is thrown. */
export async function inLanes<Part>(
  atOnce: number,
  parts: Iterable<Part>,
  work: (part: Part) => Promise<void>,
): Promise<void> {
  // The lanes share the parts: each takes the next one.
  const shared = parts[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = shared.next(); next.done !== true; next = shared.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
