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
import type { Settings } from '../../lib/settings.ts';
import type { QuotaReader } from './ask-aws.ts';
import type { Traffic } from './quotas/quotas.ts';

/** The stack of the stage, as CloudFormation knows it. */
export interface StackState {
  /** Undefined: there is no such stack. */
  readonly status: string | undefined;
  readonly outputs: ReadonlyMap<string, string>;
}

/** What every question may use: the account, the planned deployment, and the clients. */
export interface Asked {
  readonly account: string;
  readonly region: string;
  /** The ARN of the caller. */
  readonly caller: string;
  readonly settings: Settings;
  /** The traffic that the deployment has to handle. */
  readonly traffic: Traffic;
  /** The operator continues without anybody who gets the alarms. */
  readonly withoutAlarms: boolean;
  readonly stackName: string;
  /** Throws CannotAsk. */
  readonly stack: () => Promise<StackState>;
  readonly clients: Clients;
  readonly quotas: QuotaReader;
  /** The models of Amazon Bedrock that the catalog has. */
  readonly bedrockModels: readonly string[];
  /** The names to which DNS sends a host name (CNAME). Empty: it has none. Undefined: the name does not exist. */
  readonly aliasesOf: (host: string) => Promise<readonly string[] | undefined>;
  /** The present time. */
  readonly now: () => Date;
}

/**
 * What a question to an account found:
 * - ok: there is nothing to do;
 * - note: nothing is wrong, but an operator should know;
 * - limits: the deployment works, with less than is wanted;
 * - stops: the deployment fails, or the deployed service does not work;
 * - unasked: the question could not be asked, so its answer is unknown.
 */
export type Level = 'ok' | 'note' | 'limits' | 'stops' | 'unasked';

export interface Finding {
  /** What was asked, such as "Lambda: concurrent executions". */
  readonly question: string;
  readonly level: Level;
  readonly found: string;
  readonly wanted: string;
  /** What an operator does about the finding. Absent: nothing. */
  readonly fix?: string;
}

export interface Question {
  readonly title: string;
  /** Throws CannotAsk when AWS gives no answer. */
  readonly ask: (asked: Asked) => Promise<readonly Finding[]>;
}

/** What to do about a quota of a service that is too low. */
export function raise(service: string): string {
  return `ask AWS for more (Service Quotas, ${service})`;
}

/** A finding: nothing to do, or something of this level to fix. */
export function judged(
  question: string,
  isRight: boolean,
  otherwise: Level,
  { found, wanted, fix }: Required<Pick<Finding, 'found' | 'wanted' | 'fix'>>,
): Finding {
  return { question, level: isRight ? 'ok' : otherwise, found, wanted, ...(!isRight && { fix }) };
}

/** A figure of the account, compared with the least that is wanted. */
export function compared(question: string, found: number, wanted: number, fix: string): Finding {
  const words = { found: String(found), wanted: `at least ${wanted}`, fix };
  return judged(question, found >= wanted, 'limits', words);
}

export type Clients = ReturnType<typeof createClients>;

/** CloudFront and IAM answer for all regions from this one. */
const globalRegion = 'us-east-1';

/** The clients by which the preflight asks AWS. It only reads. */
export function createClients(region: string, bedrockRegion: string) {
  const requestHandler = new NodeHttpHandler({
    connectionTimeout: 5_000,
    requestTimeout: 20_000,
    throwOnRequestTimeout: true,
  });
  const within = (name: string) => ({ region: name, requestHandler });
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
    /** In the region of the setting bedrockRegion. */
    bedrock: new BedrockClient(within(bedrockRegion)),
    /** In the region of a certificate. */
    acmIn: (name: string) => new ACMClient(within(name)),
  };
}
