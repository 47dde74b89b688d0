/** A process of `npm run simulate -- --kill N`: node simulation/kill/main.ts ROUNDS SEED, started with a channel to its parent. */
import { runKillLoad } from './rounds.ts';

const [rounds = '20', seed = '1'] = process.argv.slice(2);
const say = (message: object): void => void process.send?.(message);

const report = await runKillLoad({
  rounds: Number(rounds),
  seed: Number(seed),
  clients: 4,
  lives: [50, 8_000],
  onLine: (line) => say({ kind: 'line', line }),
});
say({ kind: 'killed', report });
process.disconnect();
