/** What the preflight says of the stack agrees with the template. */
import { describe, expect, it } from 'vitest';
import {
  creatingActions,
  leastBootstrapVersion,
  rolesOfTheStack,
} from '../../admin/preflight/questions/deployment.ts';
import { parseSettings } from '../../lib/settings.ts';
import { quotasFor } from '../../admin/preflight/quotas/quotas.ts';
import { resourcesOf, template } from './template.ts';

const { Resources = {}, Rules = {} } = template.toJSON() as {
  Resources?: Readonly<Record<string, { readonly Type: string }>>;
  Rules?: Readonly<Record<string, unknown>>;
};

describe('The preflight', () => {
  it('knows the version of the bootstrap stack that the template demands', () => {
    // The rule lists the versions that are too old, as texts.
    const tooOld = [...JSON.stringify(Rules['CheckBootstrapVersion']).matchAll(/"(\d+)"/g)].map(
      ([, digits]) => Number(digits),
    );
    expect(leastBootstrapVersion).toBe(Math.max(...tooOld) + 1);
  });

  it('asks for the right to create in every service that the template uses', () => {
    const services = Object.values(Resources).map(({ Type }) => Type.split('::').slice(0, 2).join('::'));
    // CloudFormation itself serves the custom resources, and the CDK's own metadata make nothing.
    const asked = [...new Set(services)].filter(
      (service) => !/^(Custom::|AWS::CDK|AWS::CloudFormation)/.test(service),
    );
    expect(asked.filter((service) => !(service in creatingActions))).toEqual([]);
    expect(Object.keys(creatingActions)).toEqual(expect.arrayContaining(asked));
  });

  it('wants room for all roles of the stack', () => {
    const roles = resourcesOf('AWS::IAM::Role').length;
    expect(rolesOfTheStack).toBeGreaterThanOrEqual(roles);
    expect(rolesOfTheStack).toBeLessThan(2 * roles);
  });
});

describe('The quotas for a crowd', () => {
  it.each([10, 1_000])(
    'have a throttle that the settings take, at %i creations a second of 60 s',
    (perSecond) => {
      const { gatewayRequestsPerSecond: ratePerSecond, gatewayBurst: burst } = quotasFor({
        perSecond,
        seconds: 60,
        kind: 'job',
        isPolled: true,
      });
      const throttling = { ratePerSecond, burst };
      expect(parseSettings('lib/config/crowd.ts', { throttling }).throttling).toEqual(throttling);
    },
  );
});
