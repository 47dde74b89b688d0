/** The distribution of the portal, its pages, and who signs in. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nameOf, resolved, resourcesOf, template, templatePath, wordOf } from './template.ts';
import { App, Stack } from 'aws-cdk-lib';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Template } from 'aws-cdk-lib/assertions';
import { Portal } from '../../lib/portal/portal.ts';
import { parseSettings } from '../../lib/settings.ts';

/** The properties of the resource of the portal with this name. */
function portalResource(type: string, name: string): Readonly<Record<string, unknown>> {
  const found = resourcesOf(type).find(([id]) => nameOf(id) === `Portal${name}`);
  if (!found) throw new Error(`the stack has no ${type} Portal${name}`);
  return found[1].Properties;
}

const front = resolved.distributions.find(({ behaviors }) => behaviors.length > 0);

const { DistributionConfig: config } = portalResource(
  'AWS::CloudFront::Distribution',
  'FrontDistribution',
) as {
  readonly DistributionConfig: Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
    readonly CacheBehaviors: readonly Readonly<Record<string, unknown>>[];
  };
};

describe('the distribution of the portal', () => {
  it('The API and the sign-in go to the HTTP API, without a cache, and all other paths are pages', () => {
    expect(front?.behaviors.map(({ pathPattern }) => pathPattern)).toEqual(['/api/portal/v1/?*', '/auth/?*']);
    expect(front?.pages.map(({ pathPattern }) => pathPattern)).toEqual(['/reference*']);
    for (const behavior of config.CacheBehaviors.slice(0, 2))
      expect(behavior).toMatchObject({
        // CachingDisabled.
        CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
        ViewerProtocolPolicy: 'https-only',
        AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      });
    expect(config['DefaultCacheBehavior']).toMatchObject({ ViewerProtocolPolicy: 'redirect-to-https' });
  });

  it('At most ten headers of the viewer reach the API, and Host is none of them', () => {
    for (const { forwarded } of front?.behaviors ?? []) {
      expect(forwarded.length).toBeLessThanOrEqual(10);
      expect(forwarded).toEqual([
        'accept',
        'cloudfront-viewer-address',
        'content-type',
        'idempotency-key',
        'origin',
        'prefer',
        'sec-fetch-site',
        'user-agent',
      ]);
    }
  });

  it('The distribution proves itself to the API by a secret that the template only refers to', () => {
    for (const { sent } of front?.behaviors ?? [])
      expect(sent['x-origin-secret']).toMatch(
        /^\{\{resolve:secretsmanager:arn:aws:secretsmanager:.*:secret:PortalOriginSecret\w+-AbCdEf:SecretString:::\}\}$/,
      );
    // Another reference without a version would keep an old value through every deployment, too.
    const references = readFileSync(templatePath, 'utf8').match(/resolve:(secretsmanager|ssm)[\w-]*:/g) ?? [];
    expect(references).toHaveLength(1);
    expect(resolved.outputs['OriginSecretVersion']).toBe('AWSCURRENT');
  });

  it('A page may run only scripts of the portal, and talk only to the portal and to the bucket of uploads', () => {
    const [images] = resolved.buckets;
    const [results] = resolved.distributions;
    expect(front?.added['content-security-policy']?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      `img-src 'self' https://${results?.domains[0] ?? ''} blob: data:`,
      `connect-src 'self' https://${results?.domains[0] ?? ''} https://${images?.name ?? ''}.s3.us-east-1.amazonaws.com`,
      "form-action 'self' https://darkroom-000000000000.auth.us-east-1.amazoncognito.com",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "object-src 'none'",
    ]);
  });

  it('The reference page may write styles, and nothing of it may leave the portal', () => {
    const policy = front?.pages[0]?.added['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self'; style-src 'self' 'unsafe-inline'");
    expect(policy).toContain("connect-src 'self'; form-action 'none'");
  });

  it('Every answer forbids frames, guessed types and referrers, and asks for TLS', () => {
    const answers = [front?.added, ...(front?.pages ?? []).map(({ added }) => added)];
    for (const added of [...answers, ...(front?.behaviors ?? []).map((behavior) => behavior.added)])
      expect(added).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000',
      });
  });
});

describe('the user pool', () => {
  it('Only invited people have a user, with a passkey or a password', () => {
    const pool = portalResource('AWS::Cognito::UserPool', 'IdentityUserPool');
    expect(pool).toMatchObject({
      UserPoolTier: 'ESSENTIALS',
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      Policies: { SignInPolicy: { AllowedFirstAuthFactors: ['PASSWORD', 'WEB_AUTHN'] } },
      MfaConfiguration: 'OPTIONAL',
    });
    expect(wordOf(pool['WebAuthnRelyingPartyID'])).toBe(
      'darkroom-@AWS::AccountId.auth.@AWS::Region.amazoncognito.com',
    );
    const domain = portalResource('AWS::Cognito::UserPoolDomain', 'IdentityDomain');
    expect(domain['ManagedLoginVersion']).toBe(2);
    expect(wordOf(domain['Domain'])).toBe('darkroom-@AWS::AccountId');
    expect(portalResource('AWS::Cognito::ManagedLoginBranding', 'IdentityStyle')).toMatchObject({
      UseCognitoProvidedValues: true,
    });
  });

  it('The e-mail to an invited person names the product and the address of the portal', () => {
    const { AdminCreateUserConfig: config } = portalResource(
      'AWS::Cognito::UserPool',
      'IdentityUserPool',
    ) as {
      readonly AdminCreateUserConfig: {
        readonly InviteMessageTemplate: { readonly EmailSubject: string; readonly EmailMessage: unknown };
      };
    };
    const { EmailSubject: subject, EmailMessage: message } = config.InviteMessageTemplate;
    expect(subject).toContain('Darkroom');
    const text = wordOf(message);
    expect(text).toContain('<a href="https://@PortalFrontDistribution/">');
    expect(text).toContain('{username}');
    expect(text).toContain('{####}');
  });

  it('The client of the portal has a secret, asks for codes alone, and gets tokens for five minutes', () => {
    const client = portalResource('AWS::Cognito::UserPoolClient', 'IdentityUserPoolClient');
    expect(client).toMatchObject({
      GenerateSecret: true,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email'],
      ExplicitAuthFlows: ['ALLOW_USER_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      AccessTokenValidity: 5,
      IdTokenValidity: 5,
      EnableTokenRevocation: true,
      PreventUserExistenceErrors: 'ENABLED',
    });
    const portal = 'https://@PortalFrontDistribution';
    expect((client['CallbackURLs'] as unknown[]).map(wordOf)).toEqual([
      `${portal}/auth/callback`,
      `${portal}/account`,
    ]);
    expect((client['LogoutURLs'] as unknown[]).map(wordOf)).toEqual([`${portal}/`]);
  });

  it('The secret of the client is in its own secret alone: in no environment and in no output', () => {
    const secret = portalResource('AWS::SecretsManager::Secret', 'IdentityClientSecret');
    expect(secret['SecretString']).toEqual({
      'Fn::GetAtt': [expect.stringContaining('PortalIdentityUserPoolClient'), 'ClientSecret'],
    });
    const whole = JSON.stringify(template.toJSON());
    expect(whole.split('"ClientSecret"]')).toHaveLength(2);
  });
});

/** The template of the portal alone, with its distribution by itself. */
function synthesized(originSecretVersion?: string): {
  readonly distribution: string;
  readonly rest: unknown;
} {
  const stack = new Stack(new App(), 'Darkroom');
  new Portal(stack, 'Portal', {
    settings: parseSettings('test', { portal: { originSecretVersion } }).portal,
    takesPayments: false,
    httpApi: new HttpApi(stack, 'HttpApi'),
    apiHost: undefined,
    webAclArn: undefined,
    apiUrl: 'https://api.test',
    origins: { results: 'https://results.test', uploads: 'https://uploads.test' },
  });
  const template = Template.fromStack(stack);
  const named = template.toJSON() as { Resources: Record<string, unknown>; Outputs: Record<string, unknown> };
  const [id = ''] = Object.keys(template.findResources('AWS::CloudFront::Distribution'));
  const { [id]: distribution, ...resources } = named.Resources;
  const { OriginSecretVersion: _, ...outputs } = named.Outputs;
  return {
    distribution: JSON.stringify(distribution),
    rest: { ...named, Resources: resources, Outputs: outputs },
  };
}

const [first, second] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];

/** CloudFormation reads a secret again only when the text of its reference changes. */
it('Another version of the setting portal.originSecretVersion changes the header of the distribution, and nothing else does', () => {
  const [none, one, two] = [synthesized(), synthesized(first), synthesized(second)];
  expect(synthesized(first)).toEqual(one);
  expect(one.distribution).toContain(`:SecretString:::${first}}}`);
  expect(none.distribution).toBe(one.distribution.replaceAll(first, ''));
  expect(two.distribution).toBe(one.distribution.replaceAll(first, second));
  for (const { rest } of [one, two]) expect(rest).toEqual(none.rest);
});

it.each(['AWSCURRENT', 'short', 'x:y'.repeat(20)])(
  'The version %s is refused with the command that prints one',
  (version) => {
    expect(() => parseSettings('lib/config/x.ts', { portal: { originSecretVersion: version } })).toThrow(
      'portal.originSecretVersion: must be the version that `portal rotate-origin-secret` printed',
    );
  },
);
