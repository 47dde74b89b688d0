/**
 * The erasure by age: the texts of a creation are erased after the days of the setting keepPromptsDays. A run
 * begins once a day and covers the days since the last run, account by account. A run that is cut off
 * continues later, and the next run tries a creation again that cannot be erased yet.
 */
import { inLanes } from '../values/lanes.ts';
import { isKnownVersion } from '../values/runtime.ts';
import type { AgedCreation, AgeProgress } from './age-store.ts';
import type { EraseContentServices } from './open.ts';

/** A write takes 5 ms: two thousand a second. */
const atOnce = 10;
const dayMillis = 86_400_000;
const saveMillis = 15_000;

/** @returns how many creations were erased */
export async function eraseByAge(services: EraseContentServices, isTimeUp: () => boolean): Promise<number> {
  const { age, clock, keepPromptsDays } = services;
  if (keepPromptsDays === 0) return 0;
  const oldest = dayOf(clock.now() - keepPromptsDays * dayMillis);
  let progress: AgeProgress = await age.read();
  if (progress.until === undefined && oldest <= progress.doneUntil) return 0;
  progress = { ...progress, until: progress.until ?? oldest };
  const until = progress.until ?? oldest;
  let [erased, savedAt] = [0, clock.elapsed()];
  for await (const { id, place } of age.accounts(progress.after)) {
    for await (const creations of age.accepted(id, progress.doneUntil, until)) {
      const left = await eraseAll(creations, services);
      erased += creations.length - left.length;
      const days = left.map(({ createdAt }) => createdAt.slice(0, 10));
      const [leftFrom] = [...days, progress.leftFrom].sort();
      progress = { ...progress, ...(leftFrom !== undefined && { leftFrom }) };
      // This account is read again from its beginning. Erased creations are skipped.
      if (isTimeUp()) {
        await age.save(progress);
        return erased;
      }
    }
    progress = { ...progress, after: place };
    if (clock.elapsed() - savedAt < saveMillis) continue;
    savedAt = clock.elapsed();
    await age.save(progress);
  }
  await age.save({ doneUntil: progress.leftFrom ?? until });
  return erased;
}

/** Returns the creations that could not be erased yet. */
async function eraseAll(
  creations: readonly AgedCreation[],
  { erasures, leftovers, clock, schema, keepPromptsDays }: EraseContentServices,
): Promise<readonly AgedCreation[]> {
  const left: AgedCreation[] = [];
  await inLanes(atOnce, creations, async (creation) => {
    if (creation.erasedAt !== undefined) return;
    const isErased = isKnownVersion(creation.v, schema) && (await erasures.eraseTexts(creation, clock.now()));
    if (!isErased) left.push(creation);
    // Later the rows are gone by their own age.
    else if (keepPromptsDays < 31) await leftovers.removeDeliveries(creation);
  });
  return left;
}

function dayOf(millis: number): string {
  return new Date(millis).toISOString().slice(0, 10);
}
