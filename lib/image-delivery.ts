import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Distribution, HttpVersion, ViewerProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

export interface ImageDeliveryProps {
  readonly resultDays: number;
}

/**
 * Rendered images: a private bucket, and a distribution that alone may read it. A
 * presigned address would die with the session of the role that made it.
 */
export class ImageDelivery extends Construct {
  readonly bucket: Bucket;
  /** Without a slash at its end; an image's key follows it. */
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, props: ImageDeliveryProps) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        // A day more than promised: expiry runs once a day and never early.
        { id: 'results', prefix: 'results/', expiration: Duration.days(props.resultDays + 1) },
        { id: 'sources', prefix: 'sources/', expiration: Duration.days(1) },
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Darkroom: rendered images',
      httpVersion: HttpVersion.HTTP2_AND_3,
      defaultBehavior: {
        // The library's own class does not fit its interface under exactOptionalPropertyTypes.
        origin: S3BucketOrigin.withOriginAccessControl(this.bucket as IBucket),
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      },
    });
    this.baseUrl = `https://${distribution.distributionDomainName}`;
  }

  /** Lets a function store results, and find one that it stored before. */
  grantStore(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    this.allow(fn, 's3:PutObject', 'results/*');
    this.allow(fn, 's3:GetObject', 'results/*');
    // Without it S3 answers "forbidden" where it means "not there".
    fn.addToRolePolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [this.bucket.bucketArn] }));
  }

  /** Lets a function keep copies of source images; they are gone within 48 h. */
  grantStoreSources(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    this.allow(fn, 's3:PutObject', 'sources/*');
  }

  private allow(fn: LambdaFunction, action: string, keys: string): void {
    fn.addToRolePolicy(new PolicyStatement({ actions: [action], resources: [this.bucket.arnForObjects(keys)] }));
  }
}
