import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge, logicalIdOf } from '../acknowledge.ts';

/** The bucket of the portal's pages. Only the portal's distribution may read the bucket. */
export class PortalPages extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // The function that publishes the pages empties the bucket first.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(this.bucket, {
      'AwsSolutions-S1': 'The pages are the same for everybody, and only the distribution reads them.',
    });
  }

  /**
   * Lets the function put the pages of its bundle into the bucket, at each deployment with other pages or
   * addresses.
   */
  publishBy(fn: LambdaFunction, addresses: { readonly portalUrl: string; readonly apiUrl: string }): void {
    fn.addEnvironment('PAGES_BUCKET', this.bucket.bucketName);
    fn.addEnvironment('PORTAL_URL', addresses.portalUrl);
    fn.addEnvironment('API_URL', addresses.apiUrl);
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['s3:PutObject', 's3:DeleteObject'],
        resources: [this.bucket.arnForObjects('*')],
      }),
    );
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['s3:ListBucket'], resources: [this.bucket.bucketArn] }),
    );
    acknowledge(fn, {
      [`AwsSolutions-IAM5[Resource::<${logicalIdOf(this.bucket)}.Arn>/*]`]:
        'The bucket has nothing but the pages, and the names of the pages have hashes.',
    });
    const { code } = fn.node.defaultChild as CfnFunction;
    const published = new CustomResource(this, 'Published', {
      resourceType: 'Custom::PortalPages',
      serviceToken: fn.functionArn,
      serviceTimeout: Duration.minutes(3),
      properties: {
        Bucket: this.bucket.bucketName,
        // The pages are in the bundle, so other pages are other code.
        Release: (code as CfnFunction.CodeProperty).s3Key,
        ...addresses,
      },
    });
    // The rights of the function, too.
    published.node.addDependency(fn);
  }
}
