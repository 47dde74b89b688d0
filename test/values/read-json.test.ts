/** JSON of strangers: its depth and its size are known before anything walks through it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson, readVendorJson } from '../../service/values/read-json.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import {
  isFailing,
  scheduleOf,
  waitAfter,
  webhookAttempts,
  webhookClaimedMillis,
} from '../../service/webhooks/webhook.ts';

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('reading JSON of a stranger', () => {
  it('32 lists and objects inside each other are read, and one more is too deep', () => {
    expect([lists(32), objects(32)].map((text) => readJson(text).kind)).toEqual(['value', 'value']);
    for (const text of [lists(33), objects(33), `{"a":[{"b":${lists(30)}}]}`, '['.repeat(100_000)])
      expect(readJson(text)).toEqual({ kind: 'too_deep' });
  });

  it('Depth is how many are open at once, and not how many there are', () => {
    expect(readJson(`[${Array.from({ length: 500 }, () => '[{}]').join()}]`).kind).toBe('value');
  });

  it('A thousand members and items are read, and one more is too many', () => {
    const items = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;
    expect([readJson(items(1_000)).kind, readJson(items(1_001)).kind]).toEqual(['value', 'too_many']);
    const members = Array.from({ length: 1_001 }, (_, index) => `"a${index}":1`).join();
    expect(readJson(`{${members}}`)).toEqual({ kind: 'too_many' });
  });

  it('Brackets, commas and quotes in a text count as nothing', () => {
    const text = fc.array(fc.constantFrom('[', '{', ',', '"', '\\', '\\"', 'a'), { maxLength: 5_000 });
    fc.assert(
      fc.property(text, (parts) => {
        const value = { text: parts.join('') };
        expect(readJson(JSON.stringify(value))).toEqual({ kind: 'value', value });
      }),
    );
  });

  it('Whatever JSON.parse reads within the bounds is read alike, and everything else is no JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json({ maxDepth: 4 }), fc.string()), (text) => {
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          expect(readJson(text, Infinity).kind).not.toBe('value');
          return;
        }
        expect(readJson(text, Infinity)).toEqual({ kind: 'value', value });
      }),
    );
  });

  it('Lists of a vendor may be long, and an answer that is too deep is none', () => {
    expect(readVendorJson(`[${'0,'.repeat(5_000)}0]`)).toHaveLength(5_001);
    expect(readVendorJson(lists(100_000))).toBeUndefined();
  });
});

const begin = Date.parse('2026-11-21T12:00:00Z');

const at = (millis: number): string => new Date(millis).toISOString();

describe('a webhook', () => {
  it('is failing from the end of its first failed attempt until its last attempt has ended', () => {
    const seen: boolean[][] = [];
    let now = begin;
    for (let attempt = 1; attempt <= webhookAttempts; attempt += 1) {
      const row = { attempt, startedAt: at(now) } as Delivery;
      const claimed = now + webhookClaimedMillis + waitAfter(attempt);
      now += 3_000;
      const atWork = { status: 'pending', attempts: attempt, nextAt: claimed } as const;
      const isLast = attempt === webhookAttempts;
      const nextAt = now + waitAfter(attempt);
      const settled = { status: isLast ? 'failed' : 'pending', attempts: attempt, nextAt } as const;
      const ended: Delivery = { ...row, outcome: 'failed', ...(!isLast && { nextAttemptAt: at(nextAt) }) };
      // The record and the log row say the same.
      for (const [stored, logged] of [
        [atWork, row],
        [settled, ended],
      ] as const)
        seen.push([isFailing(stored, now), isFailing(scheduleOf(logged), now)]);
      now = nextAt;
    }
    const [untried, failing] = [
      [false, false],
      [true, true],
    ];
    expect(seen).toEqual([untried, ...Array.from({ length: 8 }, () => failing), untried]);
  });
});
