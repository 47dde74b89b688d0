/** The private network of an operator, in which the functions that render can reach an own GPU. */
import type { CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import * as z from 'zod';
import { acknowledge, allow } from './acknowledge.ts';

const ids = (kind: 'subnet' | 'sg', example: string): z.ZodArray<z.ZodString> =>
  z
    .array(
      z.string({ error: `must be an id such as ${example}` }).regex(new RegExp(`^${kind}-[0-9a-f]{8,17}$`)),
      {
        error: `must be a list of ids such as ${example}`,
      },
    )
    .min(1, { error: 'must have one id at least' });

/** The setting providerNetwork. Absent: the functions run outside every network of the operator. */
export const providerNetwork = z
  .strictObject(
    {
      subnetIds: ids('subnet', 'subnet-0123456789abcdef0'),
      securityGroupIds: ids('sg', 'sg-0123456789abcdef0'),
    },
    { error: 'must be {subnetIds, securityGroupIds}' },
  )
  .optional();

export type ProviderNetwork = NonNullable<z.output<typeof providerNetwork>>;

/**
 * Lambda makes and removes the network interfaces with the role of the function, and takes no narrower resource
 * than every interface (https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html, read 2026-11-23).
 */
const interfaceActions = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];

/** Lets the function run in the network. */
export function joinNetwork(fn: LambdaFunction, { subnetIds, securityGroupIds }: ProviderNetwork): void {
  (fn.node.defaultChild as CfnFunction).vpcConfig = { subnetIds, securityGroupIds };
  allow(fn, interfaceActions, ['*']);
  acknowledge(fn, {
    'AwsSolutions-IAM5[Resource::*]':
      'Lambda makes the network interfaces of a function, whose ids nobody knows before.',
  });
}
