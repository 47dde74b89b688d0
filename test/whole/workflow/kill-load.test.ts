import { expect, it } from 'vitest';
import { runKillLoad } from '../../../lab/simulation/kill/rounds.ts';

/**
 * How many rounds of `npm run simulate -- --kill` to run. `npm test` runs none: it kills at chosen moments
 * instead (kill.test.ts), which takes a tenth of the time.
 */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 0);

it.skipIf(rounds === 0)(
  'A service killed under load loses nothing: every 202 ends, is charged once a key, is refunded when it failed, and its webhook is settled',
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
    // The service was killed during its work, so clients sent requests again. Each request made one creation.
    expect(report.retried).toBeGreaterThan(0);
    expect(report.creations).toBeGreaterThanOrEqual(report.accepted);
    expect(report.accepted).toBeGreaterThan(2);
  },
);
