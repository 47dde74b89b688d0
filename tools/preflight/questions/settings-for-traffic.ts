import { quotasFor } from '../../quotas/quotas.ts';
import { capacityOf } from '../capacity-settings.ts';
import { compared, type Question } from '../finding.ts';

/** Whether the settings of the stage let the wanted traffic in. This question asks no account. */
export const settingsForTraffic: Question = {
  title: 'Settings for the traffic',
  ask({ settings, traffic }) {
    const wanted = quotasFor(traffic);
    const { ratePerSecond, burst } = settings.throttling;
    const { serviceCapacity } = capacityOf(settings);
    const throttling = `throttling: { ratePerSecond: ${wanted.gatewayRequestsPerSecond}, burst: ${wanted.gatewayBurst} }`;
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
    ]);
  },
};
