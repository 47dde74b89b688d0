/**
 * What each operation of the portal and of the operator API answered when it was last recorded, also to wrong
 * requests, and what the log of actions says. After a change that is meant: `node test/recorded/write.ts` records anew.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { busyFile, playBusy } from './play-busy.ts';
import { operatorFile, playOperator } from './play-operator.ts';
import { playPortal, portalFile } from './play-portal.ts';
import { playTools, toolsFile } from './play-tools.ts';
import type { RecordedAnswer } from './recorded-answer.ts';

describe.each([
  ['the portal', portalFile, playPortal],
  ['the operator API', operatorFile, playOperator],
  ['an account with a history', busyFile, playBusy],
  ['the MCP endpoint', toolsFile, playTools],
])('%s answers as recorded', (_name, file, play) => {
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as RecordedAnswer[];
  let played: readonly RecordedAnswer[];
  beforeAll(async () => {
    played = await play();
  });

  it.each(recorded.map((entry) => [entry.title, entry] as const))('%s', (title, entry) => {
    expect(played.find((one) => one.title === title)).toEqual(entry);
  });

  it('and nothing else is asked', () => {
    expect(played.map(({ title }) => title)).toEqual(recorded.map(({ title }) => title));
  });
});
