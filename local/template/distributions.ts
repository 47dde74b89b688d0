import * as z from 'zod';
import { localAttributes } from './local-names.ts';
import { pagesType, type Resources } from './resources.ts';

/** Headers that a distribution adds to its answers, under lower-case names. They replace those of the origin. */
export type AddedHeaders = Readonly<Record<string, string>>;

/** The paths of a distribution that lead to its bucket, and have headers of their own. */
interface LocalPages {
  /** A pattern of CloudFront, such as `/auth/*`. */
  readonly pathPattern: string;
  readonly added: AddedHeaders;
  /** The ids of the key groups that sign these addresses. Empty: they open without a signature. */
  readonly keyGroups?: readonly string[];
}

/** The paths of a distribution that lead to the HTTP API. */
export interface LocalBehavior extends LocalPages {
  /** The headers of the viewer that reach the API, in lower case. */
  readonly forwarded: readonly string[];
  /** The headers that the distribution itself sends to the API. A value may be a reference to a secret. */
  readonly sent: Readonly<Record<string, string>>;
}

/** A distribution in front of a bucket, and perhaps of the HTTP API. */
export interface LocalDistribution {
  readonly id: string;
  /** CloudFront's own name of the distribution, and the names of the operator. */
  readonly domains: readonly string[];
  readonly bucket: string;
  /** The ARNs that the policy of the bucket lets CloudFront read; `*` stands for any text. */
  readonly readable: readonly string[];
  /** The ARNs that the policy forbids to CloudFront, whatever else it allows. */
  readonly unreadable?: readonly string[];
  /** The headers that the distribution adds to the objects of the bucket. */
  readonly added: AddedHeaders;
  /** The CloudFront Function that changes the requests for objects. */
  readonly viewerRequest?: string;
  /** In the order in which they are tried. Other paths are objects of the bucket. */
  readonly behaviors: readonly LocalBehavior[];
  readonly pages: readonly LocalPages[];
}

/** A custom resource whose function puts pages into a bucket. */
export interface LocalPublisher {
  readonly id: string;
  readonly functionId: string;
  readonly bucket: string;
}

const defaultBehavior = z.object({
  TargetOriginId: z.string(),
  ResponseHeadersPolicyId: z.string().optional(),
  FunctionAssociations: z
    .array(z.object({ EventType: z.literal('viewer-request'), FunctionARN: z.string() }))
    .max(1)
    .default([]),
});
const pagesBehavior = defaultBehavior.extend({
  PathPattern: z.string(),
  TrustedKeyGroups: z.array(z.string()).default([]),
});
/** CachingDisabled, a policy of AWS itself. The stand-in keeps no cache. */
const noCache = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
/** A member with this schema is refused, because it would change what the stand-in has to do. */
const absent = z.never().optional();
const apiBehavior = z.object({
  PathPattern: z.string(),
  TargetOriginId: z.string(),
  CachePolicyId: z.literal(noCache),
  OriginRequestPolicyId: z.string(),
  ResponseHeadersPolicyId: z.string().optional(),
  FunctionAssociations: absent,
});
const origin = z.object({
  Id: z.string(),
  DomainName: z.string(),
  OriginPath: z.literal('').optional(),
  OriginCustomHeaders: z.array(z.object({ HeaderName: z.string(), HeaderValue: z.string() })).default([]),
});
const distributionSchema = z.object({
  DistributionConfig: z.object({
    Aliases: z.array(z.string()).default([]),
    DefaultCacheBehavior: defaultBehavior,
    CacheBehaviors: z.array(z.looseObject({ TargetOriginId: z.string() })).default([]),
    Origins: z.array(origin),
  }),
});

const bucketPolicySchema = z.object({
  Bucket: z.string(),
  PolicyDocument: z.object({
    Statement: z.array(
      z.object({
        Effect: z.string(),
        Action: z.union([z.string(), z.array(z.string())]),
        Principal: z.unknown(),
        Resource: z.union([z.string(), z.array(z.string())]),
      }),
    ),
  }),
});
const cloudFrontPrincipal = z.object({ Service: z.literal('cloudfront.amazonaws.com') });

const functionSchema = z.object({ FunctionCode: z.string() });
const requestPolicySchema = z.object({
  OriginRequestPolicyConfig: z.object({
    CookiesConfig: z.object({ CookieBehavior: z.literal('all') }),
    QueryStringsConfig: z.object({ QueryStringBehavior: z.literal('all') }),
    HeadersConfig: z.object({
      HeaderBehavior: z.literal('whitelist'),
      // CloudFront allows ten.
      Headers: z.array(z.string()).max(10),
    }),
  }),
});
const headersPolicySchema = z.object({
  ResponseHeadersPolicyConfig: z.object({
    CorsConfig: z
      .object({
        AccessControlAllowOrigins: z.object({ Items: z.tuple([z.literal('*')]) }),
        AccessControlAllowCredentials: z.literal(false),
      })
      .optional(),
    SecurityHeadersConfig: z.object({
      ContentSecurityPolicy: z.object({ ContentSecurityPolicy: z.string() }),
      ContentTypeOptions: z.object({}),
      FrameOptions: z.object({ FrameOption: z.string() }),
      ReferrerPolicy: z.object({ ReferrerPolicy: z.string() }),
      StrictTransportSecurity: z.object({ AccessControlMaxAgeSec: z.number() }),
    }),
  }),
});

/** The distributions, each with the bucket behind its default behaviour. */
export function readDistributions(resources: Resources, apiEndpoint: string): readonly LocalDistribution[] {
  const readable = ofCloudFront(resources, 'Allow');
  const unreadable = ofCloudFront(resources, 'Deny');
  const headers = addedHeaders(resources);
  const requests = byId(resources, 'AWS::CloudFront::OriginRequestPolicy', requestPolicySchema);
  const apiHosts = [
    new URL(apiEndpoint).host,
    ...resources
      .of('AWS::ApiGatewayV2::DomainName', z.object({ DomainName: z.string() }))
      .map(({ properties }) => properties.DomainName),
  ];
  const edgeCode = byId(resources, 'AWS::CloudFront::Function', functionSchema);
  return resources
    .of('AWS::CloudFront::Distribution', distributionSchema)
    .map(({ id, properties, unsupported }): LocalDistribution => {
      const { Aliases, DefaultCacheBehavior, CacheBehaviors, Origins } = properties.DistributionConfig;
      const originOf = (originId: string): z.output<typeof origin> | undefined =>
        Origins.find((one) => one.Id === originId);
      const domainName = originOf(DefaultCacheBehavior.TargetOriginId)?.DomainName ?? '';
      const bucket = /^(.+)\.s3\.(?:[a-z0-9-]+\.)?amazonaws\.com$/.exec(domainName)?.[1];
      if (bucket === undefined)
        throw unsupported(`the default origin ${domainName} is not a bucket of this template`);
      const [association] = DefaultCacheBehavior.FunctionAssociations;
      const viewerRequest = association && edgeCode.get(association.FunctionARN)?.FunctionCode;
      return {
        id,
        bucket,
        readable: readable.get(bucket) ?? [],
        unreadable: unreadable.get(bucket) ?? [],
        domains: [
          localAttributes(id, { Type: 'AWS::CloudFront::Distribution' }).DomainName ?? '',
          ...Aliases,
        ],
        added: headers.get(DefaultCacheBehavior.ResponseHeadersPolicyId ?? '') ?? {},
        ...(viewerRequest !== undefined && { viewerRequest }),
        ...behaviorsOf(CacheBehaviors, {
          bucketOrigin: DefaultCacheBehavior.TargetOriginId,
          viewerRequest: association?.FunctionARN,
          apiOrigin: (originId) => {
            const found = originOf(originId);
            if (found && apiHosts.includes(found.DomainName)) return found;
            throw unsupported(`origin ${found?.DomainName ?? originId} is neither the bucket nor the API`);
          },
          headers,
          requests,
        }),
      };
    });
}

interface Surroundings {
  readonly bucketOrigin: string;
  readonly viewerRequest: string | undefined;
  /** Throws when the origin is not the API. */
  readonly apiOrigin: (id: string) => z.output<typeof origin>;
  readonly headers: ReadonlyMap<string, AddedHeaders>;
  readonly requests: ReadonlyMap<string, z.output<typeof requestPolicySchema>>;
}

/** The behaviours beside the default one. Those of the bucket have to use the same function as the default. */
function behaviorsOf(
  found: readonly { readonly TargetOriginId: string }[],
  { bucketOrigin, viewerRequest, apiOrigin, headers, requests }: Surroundings,
): Pick<LocalDistribution, 'behaviors' | 'pages'> {
  const toBucket = pagesBehavior.refine(
    ({ FunctionAssociations: [association] }) => association?.FunctionARN === viewerRequest,
  );
  return {
    pages: found
      .filter(({ TargetOriginId }) => TargetOriginId === bucketOrigin)
      .map((one) => toBucket.parse(one))
      .map(({ PathPattern, ResponseHeadersPolicyId, TrustedKeyGroups }) => ({
        pathPattern: PathPattern,
        added: headers.get(ResponseHeadersPolicyId ?? '') ?? {},
        keyGroups: TrustedKeyGroups,
      })),
    behaviors: found
      .filter(({ TargetOriginId }) => TargetOriginId !== bucketOrigin)
      .map((one) => apiBehavior.parse(one))
      .map((one) => ({
        pathPattern: one.PathPattern,
        forwarded: (
          requests.get(one.OriginRequestPolicyId)?.OriginRequestPolicyConfig.HeadersConfig.Headers ?? []
        ).map((name) => name.toLowerCase()),
        sent: Object.fromEntries(
          apiOrigin(one.TargetOriginId).OriginCustomHeaders.map(({ HeaderName, HeaderValue }) => [
            HeaderName.toLowerCase(),
            HeaderValue,
          ]),
        ),
        added: headers.get(one.ResponseHeadersPolicyId ?? '') ?? {},
      })),
  };
}

/** The keys that sign addresses: the secret of the private one, and the group that CloudFront trusts at the start. */
export interface LocalKeyPair {
  readonly secretArn: string;
  readonly publicKeyId: string;
  readonly keyGroupId: string;
}

export function readKeyPairs(resources: Resources): readonly LocalKeyPair[] {
  const [pair] = resources.of('Custom::ResultKeyPair', z.object({ SecretArn: z.string() }));
  const groups = z.object({ KeyGroupConfig: z.object({ Items: z.tuple([z.string()]) }) });
  return resources.of('AWS::CloudFront::KeyGroup', groups).map(({ id, properties, unsupported }) => {
    if (!pair) throw unsupported('its key is not made by this template');
    const [publicKeyId] = properties.KeyGroupConfig.Items;
    return { secretArn: pair.properties.SecretArn, publicKeyId, keyGroupId: id };
  });
}

const publisherSchema = z.object({ ServiceToken: z.string(), Bucket: z.string() });

export function readPublishers(resources: Resources): readonly LocalPublisher[] {
  return resources.of(pagesType, publisherSchema).map(({ id, properties, functionIn }) => ({
    id,
    functionId: functionIn('ServiceToken', properties.ServiceToken),
    bucket: properties.Bucket,
  }));
}

/** The ARNs that the policy of each bucket lets CloudFront read, or forbids it, by the name of the bucket. */
function ofCloudFront(
  resources: Resources,
  effect: 'Allow' | 'Deny',
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    resources
      .of('AWS::S3::BucketPolicy', bucketPolicySchema)
      .map(({ properties }) => [
        properties.Bucket,
        properties.PolicyDocument.Statement.filter(
          ({ Effect, Action, Principal }) =>
            Effect === effect &&
            [Action].flat().includes('s3:GetObject') &&
            cloudFrontPrincipal.safeParse(Principal).success,
        ).flatMap(({ Resource }) => Resource),
      ]),
  );
}

/** CloudFront adds this header to an answer only when the request names an origin. */
export const allowOrigin = 'access-control-allow-origin';

/** The headers of each policy, by its logical id. */
function addedHeaders(resources: Resources): ReadonlyMap<string, AddedHeaders> {
  const policies = byId(resources, 'AWS::CloudFront::ResponseHeadersPolicy', headersPolicySchema);
  return new Map(
    [...policies].map(([id, { ResponseHeadersPolicyConfig: config }]) => {
      const { ContentSecurityPolicy, FrameOptions, ReferrerPolicy, StrictTransportSecurity } =
        config.SecurityHeadersConfig;
      return [
        id,
        {
          ...(config.CorsConfig && { [allowOrigin]: '*' }),
          'content-security-policy': ContentSecurityPolicy.ContentSecurityPolicy,
          'x-content-type-options': 'nosniff',
          'x-frame-options': FrameOptions.FrameOption,
          'referrer-policy': ReferrerPolicy.ReferrerPolicy,
          'strict-transport-security': `max-age=${StrictTransportSecurity.AccessControlMaxAgeSec}`,
        },
      ];
    }),
  );
}

function byId<Schema extends z.ZodType>(
  resources: Resources,
  type: string,
  schema: Schema,
): ReadonlyMap<string, z.output<Schema>> {
  return new Map(resources.of(type, schema).map(({ id, properties }) => [id, properties]));
}
