import { expect, it } from 'vitest';
import { runKillLoad } from '../../simulation/kill/rounds.ts';

/** Of the kind that `npm run simulate -- --kill 20` runs; `npm test` kills at chosen moments instead (kill.test.ts), for a tenth of the time. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 0);

it.skipIf(rounds === 0)(
  'killed under load, the service loses nothing: every 202 ends, charged once a key, refunded when it failed, its webhook settled',
  { timeout: 90_000 * (rounds + 1) },
  async () => {
    const lines: string[] = [];
    const report = await runKillLoad({
      seed: 2,
      rounds,
      clients: 3,
      lives: [900, 1_200],
      onLine: (line) => lines.push(line),
    });
    expect(report.wrong).toEqual([]);
    expect(lines).toHaveLength(rounds);
    // It was killed in the middle of work: requests were sent again, and what they made is there once.
    expect(report.retried).toBeGreaterThan(0);
    expect(report.creations).toBeGreaterThanOrEqual(report.accepted);
    expect(report.accepted).toBeGreaterThan(2);
  },
);
