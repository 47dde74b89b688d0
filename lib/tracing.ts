/** X-Ray, which the setting tracing switches on. */
import type { NagRule } from './acknowledge.ts';

/** Why a role may send traces as "*". */
export const tracesKnowNoResource: Readonly<Record<NagRule, string>> = {
  'AwsSolutions-IAM5[Resource::*]':
    'The actions that send traces know no resource (Service Authorization Reference, AWS X-Ray).',
};
