import * as z from 'zod';
import type { CorsRule } from '../aws/s3-access.ts';
import { drawnElsewhere, localAttributes } from './local-names.ts';
import type { Resources } from './resources.ts';

export interface LocalTable {
  readonly name: string;
  readonly create: Readonly<Record<string, unknown>>;
  readonly ttlAttribute?: string;
}

/** A bucket, the expirations of its lifecycle rules, and what web pages may do with it. */
export interface LocalBucket {
  readonly name: string;
  readonly expirations: readonly { readonly prefix: string; readonly days: number }[];
  readonly cors: readonly CorsRule[];
}

export interface LocalSecret {
  readonly id: string;
  readonly arn: string;
  readonly name: string;
  /** GenerateSecretString, when the template asks for a generated value. */
  readonly generate?: Readonly<Record<string, unknown>>;
}

/** A member with this schema is refused, because it would change what the stand-in has to do. */
const absent = z.never().optional();

const index = z.object({
  IndexName: z.string(),
  KeySchema: z.array(z.unknown()),
  Projection: z.record(z.string(), z.unknown()),
});
const tableSchema = z.object({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(z.unknown()),
  KeySchema: z.array(z.unknown()),
  GlobalSecondaryIndexes: z.array(index).optional(),
  LocalSecondaryIndexes: z.array(index).optional(),
  TimeToLiveSpecification: z
    .object({ AttributeName: z.string().optional(), Enabled: z.boolean() })
    .optional(),
});

/** The tables. Capacity, backups, streams and encryption have no meaning here: every table is on demand. */
export function readTables(resources: Resources): readonly LocalTable[] {
  return resources
    .of(['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'], tableSchema)
    .map(({ id, properties }) => {
      const { TableName, TimeToLiveSpecification, ...shape } = properties;
      const name = TableName ?? id;
      const ttlAttribute =
        TimeToLiveSpecification?.Enabled === true ? TimeToLiveSpecification.AttributeName : undefined;
      return {
        name,
        create: { TableName: name, BillingMode: 'PAY_PER_REQUEST', ...shape },
        ...(ttlAttribute !== undefined && { ttlAttribute }),
      };
    });
}

const lifecycleRule = z.object({
  Status: z.enum(['Enabled', 'Disabled']),
  Prefix: z.string().default(''),
  ExpirationInDays: z.number().optional(),
  TagFilters: absent,
  ObjectSizeGreaterThan: absent,
  ObjectSizeLessThan: absent,
});
const corsRule = z.strictObject({
  AllowedMethods: z.array(z.string()),
  AllowedOrigins: z.array(z.string()),
  AllowedHeaders: z.array(z.string()).default([]),
  MaxAge: z.number().optional(),
});
const bucketSchema = z.object({
  BucketName: z.string().optional(),
  LifecycleConfiguration: z.object({ Rules: z.array(lifecycleRule) }).default({ Rules: [] }),
  CorsConfiguration: z.object({ CorsRules: z.array(corsRule) }).default({ CorsRules: [] }),
});

/** The buckets. A lifecycle rule that does not delete by age (aborted uploads, old versions) has no meaning here. */
export function readBuckets(resources: Resources): readonly LocalBucket[] {
  return resources.of('AWS::S3::Bucket', bucketSchema).map(({ id, properties }) => ({
    name: properties.BucketName ?? id.toLowerCase(),
    expirations: properties.LifecycleConfiguration.Rules.flatMap(({ Status, Prefix, ExpirationInDays }) =>
      Status === 'Enabled' && ExpirationInDays !== undefined
        ? [{ prefix: Prefix, days: ExpirationInDays }]
        : [],
    ),
    cors: properties.CorsConfiguration.CorsRules.map((rule) => ({
      methods: rule.AllowedMethods,
      origins: rule.AllowedOrigins,
      headers: rule.AllowedHeaders,
      maxAgeSeconds: rule.MaxAge,
    })),
  }));
}

// A literal would be a secret in a template. The client secret of a user pool is a reference, and generated here.
const secretSchema = z.object({
  Name: z.string().optional(),
  GenerateSecretString: z.record(z.string(), z.unknown()).optional(),
  SecretString: z.literal(drawnElsewhere).optional(),
});

export function readSecrets(resources: Resources): readonly LocalSecret[] {
  return resources.of('AWS::SecretsManager::Secret', secretSchema).map(({ id, properties }) => ({
    id,
    arn: localAttributes(id, { Type: 'AWS::SecretsManager::Secret', Properties: properties }).Ref ?? '',
    name: properties.Name ?? id,
    ...(properties.GenerateSecretString !== undefined && { generate: properties.GenerateSecretString }),
  }));
}
