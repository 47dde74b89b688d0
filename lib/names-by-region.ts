import { Aspects, Aws, CfnResource, Names } from 'aws-cdk-lib';
import {
  CfnKeyGroup,
  CfnOriginAccessControl,
  CfnOriginRequestPolicy,
  CfnPublicKey,
  CfnResponseHeadersPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';

const kinds = [
  [CfnKeyGroup, 'KeyGroupConfig'],
  [CfnOriginAccessControl, 'OriginAccessControlConfig'],
  [CfnOriginRequestPolicy, 'OriginRequestPolicyConfig'],
  [CfnPublicKey, 'PublicKeyConfig'],
  [CfnResponseHeadersPolicy, 'ResponseHeadersPolicyConfig'],
] as const;

/** CloudFront takes 64 characters for the shortest of these names. The longest name of a region has 14. */
const longestName = 45;

/**
 * Gives the resources of CloudFront names with the region: CloudFront knows no regions, and the CDK adds the region to
 * functions and cache policies only (https://github.com/aws/aws-cdk/issues/34336).
 */
export function nameByRegion(scope: Construct): void {
  Aspects.of(scope).add({
    visit: (node) => {
      const kind = kinds.find(([type]) => node instanceof type);
      if (!kind || !(node instanceof CfnResource)) return;
      const name = Names.uniqueResourceName(node, { maxLength: longestName });
      node.addPropertyOverride(`${kind[1]}.Name`, `${name}-${Aws.REGION}`);
      // Two public keys of an account must not have the same reference.
      if (node instanceof CfnPublicKey)
        node.addPropertyOverride(`${kind[1]}.CallerReference`, `${name}-${Aws.REGION}`);
    },
  });
}
