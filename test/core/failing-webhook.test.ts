import { describe, expect, it } from 'vitest';
import { isFailing, scheduleOf } from '../../core/failing-webhook.ts';
import type { Delivery } from '../../core/ports/deliveries.ts';
import { waitAfter, webhookAttempts, webhookClaimedMillis } from '../../core/webhook.ts';

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
