/** The private network of an operator, in which the functions that render can reach an own GPU. */
import type { CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { acknowledge, allow } from './acknowledge.ts';
import type { ProviderNetwork } from './settings-of-parts.ts';

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
