/**
 * The resources that hold data. An update that changes a logical id makes a new, empty
 * resource beside the old one. So change this list only together with a migration.
 */
import { describe, expect, it } from 'vitest';
import { resourcesOf, template } from './template.ts';

const stateful: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['StoreTable0CCFA19B'],
  'AWS::S3::Bucket': ['ImagesBucket4B6DB8E1'],
  'AWS::SecretsManager::Secret': [
    'EncryptionSecretA7F02943',
    'ProvidersCredentials109EE3DB',
    'PortalIdentityClientSecretB45EE638',
  ],
  'AWS::Cognito::UserPool': ['PortalIdentityUserPool32DD3763'],
};

/**
 * The distribution gets the secret at each deployment, and nothing was made with it. A release publishes all pages
 * of the portal.
 */
const madeAnew = new Set(['PortalOriginSecret0463ACCB', 'PortalPagesBucketB5ED6184']);

/** Types of resources that can hold data, also those that the stack does not use yet. */
const couldHoldData =
  /^AWS::(DynamoDB|S3|SecretsManager|RDS|EFS|SQS|Kinesis|KMS|Cognito|OpenSearchService|ElastiCache|SSM)::/;
/** Types that belong to such a resource and hold no data themselves. */
const attachments = new Set([
  'AWS::S3::BucketPolicy',
  'AWS::Cognito::UserPoolClient',
  'AWS::Cognito::UserPoolDomain',
  'AWS::Cognito::ManagedLoginBranding',
]);

describe('the resources that hold data', () => {
  it('This file lists the resources that hold data, under the logical ids that are deployed', () => {
    const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string }> };
    const found = Object.entries(Resources)
      .filter(([id, { Type }]) => couldHoldData.test(Type) && !attachments.has(Type) && !madeAnew.has(id))
      .map(([id, { Type }]) => `${Type} ${id}`);
    expect(found.sort()).toEqual(
      Object.entries(stateful)
        .flatMap(([type, ids]) => ids.map((id) => `${type} ${id}`))
        .sort(),
    );
  });

  it.each(Object.keys(stateful).flatMap((type) => resourcesOf(type).filter(([id]) => !madeAnew.has(id))))(
    'The resource %s is retained when the stack is deleted and when an update replaces it, and goes with a first deployment that is rolled back',
    (_id, resource) => {
      expect(resource).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    },
  );

  it('The resources that hold data have no fixed names, because an update that replaces them would then fail', () => {
    for (const type of Object.keys(stateful)) {
      for (const [id, { Properties }] of resourcesOf(type))
        for (const name of ['TableName', 'BucketName', 'Name', 'UserPoolName'])
          expect(Properties, id).not.toHaveProperty(name);
    }
  });
});
