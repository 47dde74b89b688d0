/**
 * Stands in for @aws-sdk/middleware-endpoint-discovery, which is off unless a variable of the environment switches it
 * on, and which DynamoDB no longer uses. With its cache and its operation it has 9 KB.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: (): undefined => undefined,
  configFileSelector: (): undefined => undefined,
  default: undefined,
};

export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;
