/**
 * The process behind `npm run simulate -- --kill N`, started as `node lab/simulation/kill/main.ts ROUNDS SEED`
 * with a channel to its parent.
 */
import type { KillMessage } from '../messages.ts';
import { runKillLoad } from './rounds.ts';

const [rounds = '20', seed = '1'] = process.argv.slice(2);
const say = (message: KillMessage): void => void process.send?.(message);

const report = await runKillLoad({
  rounds: Number(rounds),
  seed: Number(seed),
  clients: 4,
  lives: [50, 8_000],
  onLine: (line) => say({ kind: 'line', line }),
});
say({ kind: 'killed', report });
process.disconnect();
