/**
 * The invariants of the operator's catalog: each creation is charged at the price that the revision in its record
 * had, and no function sells by a revision that was replaced long ago.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Catalog } from '../../../service/catalog/catalog-schema.ts';
import { mergeCatalog, type OperatorCatalog } from '../../../service/catalog/operator-catalog.ts';
import { catalog as ours } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface CatalogWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
}

/** The time of a request, with slow source images and a slow network. */
const mostMillis = 45_000;

interface Revision {
  readonly name: string | undefined;
  readonly catalog: Catalog;
  /** When the next revision took its place. */
  replacedAt?: number;
}

/** Creates the watch over the prices of one world. */
export function createCatalogWatch(world: World, accuse: Accuse): CatalogWatch {
  const revisions: Revision[] = [{ name: undefined, catalog: ours }];

  function stored({ after }: Change): void {
    if (!after) {
      accuse('the catalog of the operator stays', 'its item was deleted');
      return;
    }
    const revision = textOf(after, 'revision');
    const models = JSON.parse(textOf(after, 'models')) as OperatorCatalog['models'];
    const last = revisions.at(-1);
    if (last) last.replacedAt = world.time.now();
    revisions.push({ name: revision, catalog: mergeCatalog(ours, { revision, models }) });
  }

  function charged(item: Item): void {
    const [id, name] = [textOf(item, 'id'), item['catalogRevision']?.S];
    const revision = revisions.find((one) => one.name === name);
    if (!revision) {
      accuse('a creation is sold by a revision that was stored', `${id}: ${name ?? 'none'}`);
      return;
    }
    const model = revision.catalog.models.find((one) => one.id === textOf(item, 'model'));
    const price = model?.pricing.find(({ resolution }) => resolution === textOf(item, 'resolution'));
    const sources = item['sources']?.L?.length ?? 0;
    const usd = (price?.usd ?? NaN) + sources * (price?.usd_per_input_image ?? NaN);
    const cost = Number(item['costMicros']?.N);
    if (Math.round(usd * 1_000_000) !== cost)
      accuse(
        'a creation is charged at the price of its revision',
        `${id} costs ${cost}, by the revision ${usd}`,
      );
    const lateMillis = world.time.now() - (revision.replacedAt ?? Infinity);
    if (lateMillis > mostMillis)
      accuse('nothing is sold by a revision of long ago', `${id} was sold ${lateMillis} ms later`);
  }

  return {
    onCommit: (changes) => {
      for (const change of changes) {
        if (change.pk === 'OPERATOR_CATALOG') stored(change);
        else if (change.sk === 'CREATION' && !change.before && change.after) charged(change.after);
      }
    },
  };
}
