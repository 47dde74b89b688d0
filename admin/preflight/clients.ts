/** The clients by which the preflight asks AWS. It only reads. */
import { ACMClient } from '@aws-sdk/client-acm';
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { BedrockClient } from '@aws-sdk/client-bedrock';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudFrontClient } from '@aws-sdk/client-cloudfront';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { IAMClient } from '@aws-sdk/client-iam';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SNSClient } from '@aws-sdk/client-sns';
import { STSClient } from '@aws-sdk/client-sts';
import { NodeHttpHandler } from '@smithy/node-http-handler';

export interface Clients {
  readonly sts: STSClient;
  readonly cloudFormation: CloudFormationClient;
  readonly quotas: ServiceQuotasClient;
  readonly lambda: LambdaClient;
  readonly dynamo: DynamoDBClient;
  readonly gateway: APIGatewayClient;
  readonly cloudFront: CloudFrontClient;
  readonly iam: IAMClient;
  readonly sns: SNSClient;
  /** In the region of the setting bedrockRegion. */
  readonly bedrock: BedrockClient;
  /** In the region of a certificate. */
  acmIn(region: string): ACMClient;
}

/** CloudFront and IAM answer for all regions from this one. */
const globalRegion = 'us-east-1';

export function createClients(region: string, bedrockRegion: string): Clients {
  const requestHandler = new NodeHttpHandler({
    connectionTimeout: 5_000,
    requestTimeout: 20_000,
    throwOnRequestTimeout: true,
  });
  const within = (name: string): { region: string; requestHandler: NodeHttpHandler } => ({
    region: name,
    requestHandler,
  });
  const here = within(region);
  return {
    sts: new STSClient(here),
    cloudFormation: new CloudFormationClient(here),
    quotas: new ServiceQuotasClient(here),
    lambda: new LambdaClient(here),
    dynamo: new DynamoDBClient(here),
    gateway: new APIGatewayClient(here),
    cloudFront: new CloudFrontClient(within(globalRegion)),
    iam: new IAMClient(within(globalRegion)),
    sns: new SNSClient(here),
    bedrock: new BedrockClient(within(bedrockRegion)),
    acmIn: (name) => new ACMClient(within(name)),
  };
}
