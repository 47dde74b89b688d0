/**
 * What each operation of the portal answered when it was last recorded, also to wrong requests, and what the log of
 * actions says. After a change that is meant: `node test/recorded/write.ts` records anew.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type PortalEntry, playPortal, portalFile } from './play-portal.ts';

const recorded = JSON.parse(readFileSync(portalFile, 'utf8')) as PortalEntry[];
let played: readonly PortalEntry[];
beforeAll(async () => {
  played = await playPortal();
});

describe('the portal answers as recorded', () => {
  it.each(recorded.map((entry) => [entry.title, entry] as const))('%s', (title, entry) => {
    expect(played.find((one) => one.title === title)).toEqual(entry);
  });

  it('and nothing else is asked', () => {
    expect(played.map(({ title }) => title)).toEqual(recorded.map(({ title }) => title));
  });
});
