/**
 * Everything that the HTTP API and the operator's command said when they were last recorded, byte for
 * byte but for what differs by chance (normalise.ts). After a change that is meant: write.ts records anew.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { readableAnswer, readableRun, readRecording, type Recording } from './normalise.ts';
import { record } from './record.ts';

const recorded = readRecording();
let played: Recording;
// Everything is played here: on a machine that does much else it takes longer than other hooks may.
beforeAll(async () => {
  played = await record();
}, 600_000);

/** The entry of this title as a person reads it. */
function found<Entry extends { readonly title: string }>(
  entries: readonly Entry[],
  title: string,
  readable: (entry: Entry) => string,
): string {
  const entry = entries.find((one) => one.title === title);
  return entry === undefined ? 'It was not played.' : readable(entry);
}

const titles = (entries: readonly { readonly title: string }[]): string[] =>
  entries.map(({ title }) => title);

describe('the API answers as recorded', () => {
  it.each(recorded.api.map((entry) => [entry.title, entry] as const))('%s', (title, entry) => {
    expect(found(played.api, title, readableAnswer)).toBe(readableAnswer(entry));
  });

  it('and nothing else is asked', () => {
    expect(titles(played.api)).toEqual(titles(recorded.api));
    expect(new Set(titles(played.api)).size).toBe(played.api.length);
  });
});

describe("the operator's command says as recorded", () => {
  it.each(recorded.admin.map((entry) => [entry.title, entry] as const))('%s', (title, entry) => {
    expect(found(played.admin, title, readableRun)).toBe(readableRun(entry));
  });

  it('and no other command is run', () => {
    expect(titles(played.admin)).toEqual(titles(recorded.admin));
    expect(new Set(titles(played.admin)).size).toBe(played.admin.length);
  });
});
