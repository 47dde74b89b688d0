/**
 * The invariants of releases: a release leaves alone what a newer one has written, an execution has the version
 * of its record, and a running execution keeps the code with which it began.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Payload } from '../../../service/creations/payload.ts';
import type { Service } from '../aws/deployed-service.ts';
import { type Release, releaseSchemas } from '../aws/releases.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { Post } from '../network/outbound.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { bodyOf, textOf } from './answer-body.ts';
import type { Accuse } from './money-books.ts';

export interface ReleaseWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Called when a receiver got a webhook. */
  readonly onPost: (post: Post) => void;
  /** Receives the input with which an execution of a creation is started. */
  readonly onStart: (input: string) => void;
  /** Called when the code of a Task did not understand its creation. */
  readonly onNotUnderstood: (startedWith: Payload, began: Release) => void;
}

/** The rows of a creation that only a release may change that understands the creation. */
const guarded = new Set(['CREATION', 'LEASE']);

/** Creates the watch over the releases of one world. */
export function createReleaseWatch(
  world: World,
  service: () => Service | undefined,
  accuse: Accuse,
): ReleaseWatch {
  const itemOf = (pk: string): Item | undefined => service()?.table.get(pk, 'CREATION');
  const versionOf = (item: Item | undefined): number => Number(item?.['v']?.N ?? 1);

  function leavesAlone(item: Item | undefined, invocation: Invocation | undefined, deed: string): void {
    const release = service()?.releases.of(invocation);
    if (release === undefined || versionOf(item) <= releaseSchemas[release].newestKnown) return;
    accuse(
      'a release leaves alone what a newer release has written',
      `${invocation?.id ?? ''} of ${release} ${deed} ${item?.['id']?.S ?? ''}`,
    );
  }

  return {
    onCommit: (changes) => {
      for (const { pk, sk, before, after } of changes)
        if (pk.startsWith('CREATION#') && guarded.has(sk))
          leavesAlone(
            sk === 'CREATION' ? (before ?? after) : itemOf(pk),
            world.current(),
            `changes ${sk} of`,
          );
    },
    onPost: ({ body, sender }) => {
      leavesAlone(itemOf(`CREATION#${textOf(bodyOf(body), 'id')}`), sender, 'tells about');
    },
    onStart: (input) => {
      const { creation_id: id, v = 1 } = JSON.parse(input) as Payload;
      const item = itemOf(`CREATION#${id}`);
      leavesAlone(item, world.current(), 'starts');
      if (item && v !== versionOf(item))
        accuse('an execution has the version of its record', `${id}: ${v}, not ${versionOf(item)}`);
    },
    onNotUnderstood: ({ creation_id: id }, began) => {
      if (versionOf(itemOf(`CREATION#${id}`)) <= releaseSchemas[began].newestKnown)
        accuse('a running execution keeps the code of its release', `${id}, begun by ${began}`);
    },
  };
}
