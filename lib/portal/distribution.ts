import { CustomResource, Duration, Fn, RemovalPolicy, type SecretValue } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  type DistributionProps,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestCookieBehavior,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  OriginRequestQueryStringBehavior,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  type ResponseSecurityHeadersBehavior,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { portalRoots } from '../../service/contract/operations.ts';
import { acknowledge, logicalIdOf, allow } from '../acknowledge.ts';
import { addOutput } from '../service-scope.ts';
import type { Settings } from '../settings.ts';

/** The pages that show the OpenAPI documents: of the client API, and of the operator API. */
const referencePath = '/reference';
const operatorReferencePath = '/reference/operator';

/**
 * The CloudFront Function of the pages. A path without a dot is a page of the app, so it gets index.html. The
 * text runs in CloudFront's own JavaScript, and on one machine as well.
 */
const unknownPaths = `function handler(event) {
  var request = event.request;
  if (request.uri === '${referencePath}') request.uri = '${referencePath}.html';
  else if (request.uri === '${operatorReferencePath}') request.uri = '${referencePath}-operator.html';
  else if (request.uri.lastIndexOf('.') < request.uri.lastIndexOf('/')) request.uri = '/index.html';
  return request;
}
`;

export interface PortalDistributionProps {
  readonly pages: Bucket;
  readonly httpApi: HttpApi;
  /** The host under which the distribution reaches the API. Absent: the API's default address. */
  readonly apiHost: string | undefined;
  /** The firewall before the portal. */
  readonly webAclArn: string | undefined;
  /** A reference to the secret, which CloudFormation replaces by the value. */
  readonly originSecret: SecretValue;
  /** Host name and certificate of the portal. Absent: CloudFront gives a name. */
  readonly domain?: Settings['portal']['domain'];
  /** The origins that the pages may load images from, upload to, and sign in at. */
  readonly origins: { readonly results: string; readonly uploads: string; readonly signIn: string };
}

/**
 * The headers of the browser that reach the portal's functions. CloudFront allows ten in this list. Host is
 * never one of them: API Gateway refuses a name that is not its own.
 */
const forwardedHeaders = [
  'Accept',
  'CloudFront-Viewer-Address',
  'Content-Type',
  'Idempotency-Key',
  'Origin',
  'Prefer',
  'Sec-Fetch-Site',
  'User-Agent',
];

/** The pages, and the API behind the same host name. */
export class PortalDistribution extends Construct {
  /** https://HOST */
  readonly origin: string;

  constructor(scope: Construct, id: string, props: PortalDistributionProps) {
    super(scope, id);
    const { domain, webAclArn } = props;
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Darkroom: the portal',
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(webAclArn !== undefined && { webAclId: webAclArn }),
      ...(domain && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
      ...this.behaviors(props),
    });
    acknowledge(distribution, {
      'AwsSolutions-CFR1': 'Clients of the operator sign in from wherever they are.',
      ...(webAclArn === undefined && {
        'AwsSolutions-CFR2':
          'The portal’s functions check origin, session and role of every request, and addresses with many rejected sessions are blocked. A firewall costs more than the rest of the portal; the setting webAclArn brings one.',
      }),
      'AwsSolutions-CFR3':
        'The access log of the API has every call of the portal. The pages are the same for everybody.',
      ...(!domain && {
        'AwsSolutions-CFR4':
          'The name that CloudFront gives comes with its own certificate and its own minimum of TLS; the setting portal.domain brings TLS 1.2.',
      }),
    });
    if (domain)
      addOutput(this, 'PortalDomainTarget', {
        description: `Where DNS has to send ${domain.name}`,
        value: distribution.distributionDomainName,
      });
    this.origin = `https://${domain?.name ?? distribution.distributionDomainName}`;
  }

  private behaviors(
    props: PortalDistributionProps,
  ): Pick<DistributionProps, 'defaultBehavior' | 'additionalBehaviors'> {
    const pages = this.pages(props);
    const reference: BehaviorOptions = {
      ...pages,
      responseHeadersPolicy: new ResponseHeadersPolicy(this, 'ReferenceHeaders', {
        comment: 'Darkroom: the reference page',
        securityHeadersBehavior: securityHeaders(referencePolicy),
      }),
    };
    return {
      defaultBehavior: pages,
      additionalBehaviors: { ...this.api(props), [`${referencePath}*`]: reference },
    };
  }

  private pages({ pages, origins }: PortalDistributionProps): BehaviorOptions {
    return {
      // Under exactOptionalPropertyTypes the class Bucket of the CDK does not fit the CDK's own interface IBucket.
      origin: S3BucketOrigin.withOriginAccessControl(pages as IBucket),
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      responseHeadersPolicy: new ResponseHeadersPolicy(this, 'PageHeaders', {
        comment: 'Darkroom: the pages of the portal',
        securityHeadersBehavior: securityHeaders(pagePolicy(origins)),
      }),
      functionAssociations: [
        {
          eventType: FunctionEventType.VIEWER_REQUEST,
          function: new EdgeFunction(this, 'UnknownPaths', {
            comment: 'Darkroom: leads the paths of the portal to its page',
            runtime: FunctionRuntime.JS_2_0,
            code: FunctionCode.fromInline(unknownPaths),
          }),
        },
      ],
    };
  }

  private api({ httpApi, apiHost, originSecret }: PortalDistributionProps): Record<string, BehaviorOptions> {
    const host = apiHost ?? Fn.select(2, Fn.split('/', httpApi.apiEndpoint));
    const behavior: BehaviorOptions = {
      origin: new HttpOrigin(host, {
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
        customHeaders: { 'x-origin-secret': originSecret.unsafeUnwrap() },
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: new OriginRequestPolicy(this, 'ApiRequests', {
        comment: 'Darkroom: what reaches the API of the portal',
        headerBehavior: OriginRequestHeaderBehavior.allowList(...forwardedHeaders),
        cookieBehavior: OriginRequestCookieBehavior.all(),
        queryStringBehavior: OriginRequestQueryStringBehavior.all(),
      }),
      responseHeadersPolicy: new ResponseHeadersPolicy(this, 'ApiHeaders', {
        comment: 'Darkroom: the API of the portal',
        securityHeadersBehavior: securityHeaders("default-src 'none'; frame-ancestors 'none'"),
      }),
    };
    // "?" stands for one character. A root alone is no path of the API, and the pages answer it.
    return Object.fromEntries(portalRoots.map((root) => [`${root}/?*`, behavior]));
  }
}

/** What a page may load, and from where. The list has no 'unsafe-inline' and no other host. */
function pagePolicy({ results, uploads, signIn }: PortalDistributionProps['origins']): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' ${results} blob: data:`,
    `connect-src 'self' ${results} ${uploads}`,
    `form-action 'self' ${signIn}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "object-src 'none'",
  ].join('; ');
}

/** Scalar writes its styles into the page. It may load nothing that is not its own, and send nothing anywhere. */
const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
].join('; ');

function securityHeaders(policy: string): ResponseSecurityHeadersBehavior {
  return {
    contentSecurityPolicy: { contentSecurityPolicy: policy, override: true },
    contentTypeOptions: { override: true },
    frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
    referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
    strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
  };
}

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
   * Lets the function put the pages of its bundle into the bucket, at each deployment with other pages or addresses.
   */
  publishBy(fn: LambdaFunction, addresses: { readonly portalUrl: string; readonly apiUrl: string }): void {
    fn.addEnvironment('PAGES_BUCKET', this.bucket.bucketName);
    fn.addEnvironment('PORTAL_URL', addresses.portalUrl);
    fn.addEnvironment('API_URL', addresses.apiUrl);
    allow(fn, ['s3:PutObject', 's3:DeleteObject'], [this.bucket.arnForObjects('*')]);
    allow(fn, ['s3:ListBucket'], [this.bucket.bucketArn]);
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
