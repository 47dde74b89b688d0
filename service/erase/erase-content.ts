/** EraseContent, which a schedule starts every quarter of an hour: the second pass of erasures, and those by age. */
import { type CreationRecord, hasDeletedImages } from '../creations/creation.ts';
import { imageKeysOf, resultImageKeysOf } from '../creations/erase.ts';
import { errorName } from '../values/runtime.ts';
import { eraseByAge } from './by-age.ts';
import type { EraseContentServices } from './open.ts';

/** One creation with a webhook takes about ten calls. The next start continues with the rest. */
const reserveMillis = 30_000;

export interface EraseReport {
  readonly ended: number;
  readonly failed: number;
  readonly byAge: number;
}

/** Throws when an erasure could not be ended, after it has tried all others. */
export async function eraseContent(
  services: EraseContentServices,
  timeLeft: () => number,
): Promise<EraseReport> {
  const { log } = services;
  const isTimeUp = (): boolean => timeLeft() < reserveMillis;
  const report = {
    ...(await endErasures(services, isTimeUp)),
    byAge: await eraseByAge(services, isTimeUp),
  };
  log.info('content_erased', { ...report });
  if (report.failed > 0) throw new Error('some erasures could not be ended');
  return report;
}

async function endErasures(
  services: EraseContentServices,
  isTimeUp: () => boolean,
): Promise<Omit<EraseReport, 'byAge'>> {
  const { clock, creations, due, log } = services;
  let [ended, failed] = [0, 0];
  for (const [of, end] of secondPasses)
    for (const shard of due(of, clock.now()))
      for await (const ids of shard)
        for (const creation of await creations.readAll(ids)) {
          if (isTimeUp()) return { ended, failed };
          try {
            await end(creation, services);
            ended += 1;
          } catch (error) {
            failed += 1;
            log.info('erasure_not_ended', { creationId: creation.id, error: errorName(error) });
          }
        }
  return { ended, failed };
}

type SecondPass = (creation: CreationRecord, services: EraseContentServices) => Promise<void>;

const secondPasses: readonly (readonly ['ERASE' | 'RESULTS', SecondPass])[] = [
  ['ERASE', endErasure],
  ['RESULTS', endDeletion],
];

async function endErasure(
  creation: CreationRecord,
  { erasures, images, leftovers }: EraseContentServices,
): Promise<void> {
  await images.remove(imageKeysOf(creation));
  await leftovers.removeDeliveries(creation);
  await erasures.finish(creation);
}

/** A request that was cut off after its first write deletes nothing: its client got no 204. */
async function endDeletion(
  creation: CreationRecord,
  { clock, erasures, images }: EraseContentServices,
): Promise<void> {
  if (hasDeletedImages(creation)) await images.remove(resultImageKeysOf(creation));
  await erasures.finishResults(creation.id, clock.now());
}
