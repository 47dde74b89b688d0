import { Problem } from '../../service/values/problem.ts';

/** The refusal with which the work ends. Throws when it does not end with one. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const ended: unknown = await work.then(
    () => new Error('it was not refused'),
    (error: unknown) => error,
  );
  if (ended instanceof Problem) return ended;
  throw ended;
}
