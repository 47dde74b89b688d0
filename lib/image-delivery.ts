import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  CachePolicy,
  Distribution,
  type IOrigin,
  KeyGroup,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  PublicKey,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { sharedCacheSeconds, signedPrefix, thumbnailSides } from '../service/contract/limits.ts';
import { acknowledge, logicalIdOf, allow } from './acknowledge.ts';
import { addOutput } from './service-scope.ts';
import type { Settings } from './settings.ts';

export interface ImageDeliveryProps {
  readonly resultDays: number;
  /** The origins of web pages that may put uploads from a browser. */
  readonly uploadOrigins: readonly string[];
  /** Host name and certificate of the images. Absent: CloudFront gives a name. */
  readonly domain?: Settings['resultsDomain'];
  /** Makes the first pair of keys that sign addresses. Absent: the service signs none. */
  readonly makesKeys?: LambdaFunction | undefined;
}

/** The keys that sign addresses of results. */
interface ResultKeys {
  readonly secret: Secret;
  readonly publicKey: PublicKey;
  readonly group: KeyGroup;
}

/**
 * Rendered images: a private bucket, and a distribution that alone may read the bucket. A
 * presigned address is not used, since it ends with the session of the role that signed it.
 */
export class ImageDelivery extends Construct {
  readonly bucket: Bucket;
  /** The address before the key of an image, without a slash at its end. */
  readonly baseUrl: string;
  /** The origin of the signed addresses for uploads. */
  readonly uploadOrigin: string;
  private readonly keys: ResultKeys | undefined;

  constructor(
    scope: Construct,
    id: string,
    { resultDays, domain, uploadOrigins, makesKeys }: ImageDeliveryProps,
  ) {
    super(scope, id);
    this.keys = makesKeys && this.addKeys(makesKeys);
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      lifecycleRules: [
        // S3 expires objects once a day and never early. One more day keeps the promise of docs/api.md in any case.
        { id: 'results', prefix: 'results/', expiration: Duration.days(resultDays + 1) },
        { id: 'sources', prefix: 'sources/', expiration: Duration.days(1) },
        // S3 deletes at the midnight (UTC) after that day, so an upload lives 24 to 48 hours.
        { id: 'client-uploads', prefix: 'uploads/', expiration: Duration.days(1) },
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      // A page of a client puts an upload from the browser. The signed address is the only credential.
      cors: [
        {
          allowedMethods: [HttpMethods.PUT],
          allowedOrigins: [...uploadOrigins],
          allowedHeaders: ['content-type'],
          maxAge: 3_600,
        },
      ],
    });
    acknowledge(this.bucket, {
      'AwsSolutions-S1':
        'An access log would list the paths of results, and whoever has a path has the image.',
    });
    this.uploadOrigin = `https://${this.bucket.bucketRegionalDomainName}`;
    const distribution = this.addDistribution(domain);
    this.baseUrl = `https://${domain?.name ?? distribution.distributionDomainName}`;
    if (domain)
      addOutput(this, 'ResultsDomainTarget', {
        description: `Where DNS has to send ${domain.name}`,
        value: distribution.distributionDomainName,
      });
  }

  /**
   * The first pair is made by a function, because nothing that CloudFormation draws is a pair of keys. The operator's
   * command replaces it later, so the secret and the group then hold other keys than this template says.
   */
  private addKeys(makesKeys: LambdaFunction): ResultKeys {
    const secret = new Secret(this, 'ResultKey', {
      description: 'Darkroom: the key that signs addresses of results',
      generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'unused' },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(secret, {
      'AwsSolutions-SMG4':
        'CloudFront has to know the new key before it signs (docs/operations.md, Keys): the command watches this.',
    });
    allow(makesKeys, ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'], [secret.secretArn]);
    const pair = new CustomResource(this, 'ResultKeyPair', {
      resourceType: 'Custom::ResultKeyPair',
      serviceToken: makesKeys.functionArn,
      serviceTimeout: Duration.minutes(5),
      properties: { SecretArn: secret.secretArn },
    });
    // The rights of the function, too.
    pair.node.addDependency(makesKeys);
    const publicKey = new PublicKey(this, 'ResultPublicKey', { encodedKey: pair.getAttString('PublicKey') });
    const group = new KeyGroup(this, 'ResultKeys', { items: [publicKey] });
    addOutput(this, 'ResultKeySecretArn', { value: secret.secretArn });
    addOutput(this, 'ResultKeyId', { value: publicKey.publicKeyId });
    addOutput(this, 'ResultKeyGroupId', { value: group.keyGroupId });
    return { secret, publicKey, group };
  }

  private addDistribution(domain: Settings['resultsDomain']): Distribution {
    const access = new S3OriginAccessControl(this, 'OriginAccess');
    // withOriginAccessControl() would let CloudFront read the whole bucket, uploads of clients included. Under
    // exactOptionalPropertyTypes the class Bucket of the CDK does not fit the CDK's own interface IBucket.
    const origin: IOrigin = S3BucketOrigin.withBucketDefaults(this.bucket as IBucket, {
      originAccessControlId: access.originAccessControlId,
    });
    const behavior = {
      origin,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      responseHeadersPolicy: this.securityHeaders(),
      cachePolicy: this.shortLife(),
    };
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Darkroom: rendered images',
      httpVersion: HttpVersion.HTTP2_AND_3,
      // Under its own name CloudFront ignores a minimum of TLS, and accepts TLS 1.0.
      ...(domain && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
      defaultBehavior: behavior,
      ...(this.keys && {
        additionalBehaviors: { [`${signedPrefix}*`]: { ...behavior, trustedKeyGroups: [this.keys.group] } },
      }),
    });
    this.bucket.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudfront.amazonaws.com')],
        actions: ['s3:GetObject'],
        resources: [this.bucket.arnForObjects('results/*')],
        conditions: { StringEquals: { 'AWS:SourceArn': distribution.distributionArn } },
      }),
    );
    // Without the keys nothing would ask for a signature, and ended addresses would open again.
    if (!this.keys)
      this.bucket.addToResourcePolicy(
        new PolicyStatement({
          effect: Effect.DENY,
          principals: [new ServicePrincipal('cloudfront.amazonaws.com')],
          actions: ['s3:GetObject'],
          resources: [this.bucket.arnForObjects(`${signedPrefix}*`)],
        }),
      );
    acknowledge(distribution, {
      'AwsSolutions-CFR1': 'Whom a client shows its images to, and where, is the client’s business.',
      'AwsSolutions-CFR2':
        'It serves objects under unguessable paths and runs no code: a firewall has nothing to look for, and costs more than the traffic.',
      'AwsSolutions-CFR3':
        'An access log would list the paths of results, and whoever has a path has the image.',
      ...(!domain && {
        'AwsSolutions-CFR4':
          'The name that CloudFront gives comes with its own certificate and its own minimum of TLS; the setting resultsDomain brings TLS 1.2.',
      }),
    });
    return distribution;
  }

  /**
   * The address of a deleted image dies within a minute: a cache at the edge may have asked one in the region that had
   * just asked the bucket. The objects say so themselves, but those of earlier releases allow five minutes.
   */
  private shortLife(): CachePolicy {
    return new CachePolicy(this, 'ShortLife', {
      comment: 'Darkroom: CloudFront asks the bucket again after this time',
      minTtl: Duration.seconds(1),
      defaultTtl: Duration.seconds(sharedCacheSeconds),
      maxTtl: Duration.seconds(sharedCacheSeconds),
    });
  }

  /** Images are data. No image may run code, be framed, or reveal to another site where it was shown. */
  private securityHeaders(): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'SecurityHeaders', {
      comment: 'Darkroom: rendered images',
      // Everybody who has the address can open the image, so the code of every page may read it as well.
      corsBehavior: {
        accessControlAllowOrigins: ['*'],
        accessControlAllowMethods: ['GET', 'HEAD'],
        accessControlAllowHeaders: ['*'],
        accessControlAllowCredentials: false,
        originOverride: true,
      },
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy: "default-src 'none'; sandbox", override: true },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
      },
    });
  }

  /** Lets a function make addresses of results. Only such a function may read the key that signs them. */
  grantAddresses(fn: LambdaFunction): void {
    fn.addEnvironment('RESULTS_BASE_URL', this.baseUrl);
    fn.addEnvironment('RESULT_KEY_ARN', this.keys?.secret.secretArn ?? '');
    fn.addEnvironment('RESULT_KEY_ID', this.keys?.publicKey.publicKeyId ?? '');
    if (this.keys) allow(fn, ['secretsmanager:GetSecretValue'], [this.keys.secret.secretArn]);
  }

  /** Lets a function store results. */
  grantStore(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    this.allow(fn, 's3:PutObject', 'results/*');
  }

  /** Lets a function take back thumbnails of a result that was deleted while it made them. */
  grantRemoveThumbnails(fn: LambdaFunction): void {
    for (const pixels of Object.values(thumbnailSides))
      this.allow(fn, 's3:DeleteObject', `results/*-${pixels}.webp`);
  }

  /** Lets a function read results, to send them to their client. */
  grantReadResults(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    this.allow(fn, 's3:GetObject', 'results/*');
  }

  /** Lets a function find a result that was stored before. */
  grantFind(fn: LambdaFunction): void {
    this.grantReadResults(fn);
    // Without ListBucket S3 answers 403 instead of 404 for an object that does not exist.
    allow(fn, ['s3:ListBucket'], [this.bucket.bucketArn]);
  }

  /** Lets a function store copies of source images. The bucket deletes them within 48 h. */
  grantStoreSources(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    this.allow(fn, 's3:PutObject', 'sources/*');
  }

  /** Lets a function read the copies of source images, which it sends to a provider. */
  grantReadSources(fn: LambdaFunction): void {
    this.allow(fn, 's3:GetObject', 'sources/*');
  }

  /** Lets a function sign requests by which clients put uploads. It cannot read them. */
  grantSignUploads(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    this.allow(fn, 's3:PutObject', 'uploads/*');
  }

  /** Lets a function read uploads, which it copies. */
  grantReadUploads(fn: LambdaFunction): void {
    this.allow(fn, 's3:GetObject', 'uploads/*');
  }

  /** Lets a function delete results and copies of source images, whose names their creations keep. */
  grantErase(fn: LambdaFunction): void {
    fn.addEnvironment('IMAGES_BUCKET', this.bucket.bucketName);
    for (const keys of ['results/*', 'sources/*']) this.allow(fn, 's3:DeleteObject', keys);
  }

  private allow(fn: LambdaFunction, action: string, keys: string): void {
    allow(fn, [action], [this.bucket.arnForObjects(keys)]);
    acknowledge(fn, {
      [`AwsSolutions-IAM5[Resource::<${logicalIdOf(this.bucket)}.Arn>/${keys}]`]:
        'The names of objects are drawn at random; the prefix is what can be known of them.',
    });
  }
}
