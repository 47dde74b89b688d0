/**
 * What holds data. An update that gives one of these another logical id makes a new, empty
 * one beside it: the list changes by hand only, with a migration in mind.
 */
import { describe, expect, it } from 'vitest';
import { resourcesOf, template } from './template.ts';

const stateful: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['StoreTable0CCFA19B'],
  'AWS::S3::Bucket': ['ImagesBucket4B6DB8E1'],
  'AWS::SecretsManager::Secret': ['EncryptionSecretA7F02943', 'ProvidersCredentials109EE3DB'],
};

/** Of types that can hold data, whether the stack has one yet or not. */
const couldHoldData =
  /^AWS::(DynamoDB|S3|SecretsManager|RDS|EFS|SQS|Kinesis|KMS|Cognito|OpenSearchService|ElastiCache|SSM)::/;
/** Belong to one of them and hold nothing themselves. */
const attachments = new Set(['AWS::S3::BucketPolicy']);

describe('what holds data', () => {
  it('is listed here, under the logical ids that are deployed', () => {
    const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string }> };
    const found = Object.entries(Resources)
      .filter(([, { Type }]) => couldHoldData.test(Type) && !attachments.has(Type))
      .map(([id, { Type }]) => `${Type} ${id}`);
    expect(found.sort()).toEqual(
      Object.entries(stateful)
        .flatMap(([type, ids]) => ids.map((id) => `${type} ${id}`))
        .sort(),
    );
  });

  it.each(Object.keys(stateful).flatMap((type) => resourcesOf(type)))(
    '%s is kept when the stack goes and when an update replaces it',
    (_id, resource) => {
      expect(resource).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    },
  );

  it('has no name of its own, which would make an update that replaces it fail half-way', () => {
    for (const type of Object.keys(stateful)) {
      for (const [id, { Properties }] of resourcesOf(type))
        for (const name of ['TableName', 'BucketName', 'Name'])
          expect(Properties, id).not.toHaveProperty(name);
    }
  });

  it('in the table cannot be deleted by any call while its protection stands', () => {
    for (const [id, { Properties }] of resourcesOf('AWS::DynamoDB::GlobalTable')) {
      for (const replica of Properties['Replicas'] as object[])
        expect(replica, id).toMatchObject({ DeletionProtectionEnabled: true });
    }
  });
});
