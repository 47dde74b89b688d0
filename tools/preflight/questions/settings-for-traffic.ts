import { needsOf, quotasFor } from '../../quotas/quotas.ts';
import { compared, type Finding, type Question } from '../finding.ts';

/** Whether the settings of the stage let the wanted traffic in. This question asks no account. */
export const settingsForTraffic: Question = {
  title: 'Settings for the traffic',
  ask({ settings, traffic }) {
    const wanted = needsOf(traffic);
    const best = quotasFor(traffic);
    const { ratePerSecond, burst } = settings.throttling;
    const { serviceCapacity, concurrency } = settings;
    const throttling = `throttling: { ratePerSecond: ${best.gatewayRequestsPerSecond}, burst: ${best.gatewayBurst} }`;
    return Promise.resolve([
      compared(
        'Setting throttling.ratePerSecond',
        ratePerSecond,
        wanted.gatewayRequestsPerSecond,
        throttling,
      ),
      compared('Setting throttling.burst', burst, wanted.gatewayBurst, throttling),
      compared(
        'Setting serviceCapacity',
        serviceCapacity,
        wanted.serviceCapacity,
        `serviceCapacity: ${wanted.serviceCapacity}`,
      ),
      ...reservedPools.flatMap((pool) => reservation(pool, concurrency[pool], wanted.concurrency[pool])),
    ]);
  },
};

const reservedPools = ['api', 'deliveries', 'refunds', 'reconciler'] as const;

/** A reservation is also the most that its functions get. "shared" has no such limit. */
function reservation(pool: string, found: number | 'shared', wanted: number | 'shared'): Finding[] {
  if (found === 'shared' || wanted === 'shared') return [];
  return [compared(`Setting concurrency.${pool}`, found, wanted, `concurrency: { ${pool}: ${wanted} }`)];
}
