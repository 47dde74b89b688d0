import { Duration, RemovalPolicy, SecretValue, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  FeaturePlan,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  UserPool,
  UserPoolClientIdentityProvider,
  UserPoolDomain,
  type CfnUserPoolClient,
  type UserInvitationConfig,
  type UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { signInPaths } from '../../service/contract/operations.ts';
import { acknowledge, allow } from '../acknowledge.ts';
import { addOutput, serviceName } from '../service-scope.ts';
import type { Settings } from '../settings.ts';

/** The issuer of the setting portal.signIn. */
type OtherIssuer = NonNullable<Settings['portal']['signIn']>;

/** The issuer's settings for the portal's functions. */
export interface SignInFacts {
  readonly issuer: string;
  readonly clientId: string;
  readonly emailsAreVerified: boolean;
  readonly hasAuthTime: boolean;
  /** Where a person manages passkeys and password. */
  readonly credentialsUrl: string | null;
}

/** How long the first password of an invited person works. As long as the invitation itself. */
const firstPasswordDays = 14;

/** The e-mail to an invited person, as HTML. Cognito replaces its two placeholders by address and password. */
function invitation(portalUrl: string): UserInvitationConfig {
  return {
    emailSubject: 'Your invitation to the portal of Darkroom',
    emailBody: [
      'You are invited to the portal of Darkroom, the image-generation API.',
      `Sign in at <a href="${portalUrl}">${portalUrl}</a> with the address {username} and this first password: <code>{####}</code>`,
      `The password works for ${firstPasswordDays} days. The first sign-in asks for a password of your own.`,
    ].join('<br><br>'),
  };
}

/** Words that Cognito refuses in the prefix of a domain. */
const reservedWords = /aws|amazon|cognito/g;

/**
 * The issuer that identifies people of the portal: a user pool of Amazon Cognito, or the issuer of the
 * settings. The secret of the OpenID Connect client is in Secrets Manager and nowhere else.
 */
export class PortalIdentity extends Construct {
  /** The origin to which a sign-in and a sign-out lead, for the content security policy. */
  readonly origin: string;
  private pool: UserPool | undefined;
  private facts: SignInFacts | undefined;
  private secret: Secret | undefined;

  constructor(scope: Construct, id: string, signIn: OtherIssuer | undefined) {
    super(scope, id);
    this.origin = signIn ? new URL(signIn.issuer).origin : `https://${this.poolHost()}`;
  }

  /** Registers the portal as a client of the issuer. Called once, when the address of the portal is known. */
  register(
    portalUrl: string,
    portalOrigin: string,
    { signIn, protectUserPool = false }: Pick<Settings['portal'], 'signIn' | 'protectUserPool'>,
  ): SignInFacts {
    const callback = `${portalOrigin}${signInPaths.callback}`;
    this.facts = signIn
      ? this.registerElsewhere(signIn)
      : this.registerInPool(portalUrl, callback, protectUserPool);
    return this.facts;
  }

  /** The prefix has to be unique among all accounts of AWS in the region. */
  private domainPrefix(): string {
    const { account } = Stack.of(this);
    return `${serviceName(this).toLowerCase().replace(reservedWords, '')}-${account}`;
  }

  private poolHost(): string {
    return `${this.domainPrefix()}.auth.${Stack.of(this).region}.amazoncognito.com`;
  }

  private addPool(portalUrl: string, isProtected: boolean): UserPool {
    const pool = new UserPool(this, 'UserPool', {
      featurePlan: FeaturePlan.ESSENTIALS,
      selfSignUpEnabled: false,
      userInvitation: invitation(portalUrl),
      signInAliases: { email: true },
      signInCaseSensitive: false,
      standardAttributes: { email: { required: true, mutable: true } },
      signInPolicy: { allowedFirstAuthFactors: { password: true, passkey: true } },
      passkeyRelyingPartyId: this.poolHost(),
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(firstPasswordDays),
      },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      // A protected pool could not be rolled back, so the first deployment has none.
      deletionProtection: isProtected,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(pool, {
      'AwsSolutions-COG2':
        'Cognito can count a passkey as two factors (FactorConfiguration), but then everybody must also set up a code or a phone. A passkey alone is stronger than a password with a code, and whoever uses a password can add a code.',
      'AwsSolutions-COG3':
        'Threat protection is part of the plan Plus, which costs four times as much. Only invited people have a user, and dangerous actions need a sign-in of the last minutes.',
      'AwsSolutions-COG8':
        'The plan Essentials has passkeys, which the plan Plus does not make stronger. An operator who wants Plus uses a pool of their own as the issuer.',
    });
    return pool;
  }

  private registerInPool(portalUrl: string, callback: string, isProtected: boolean): SignInFacts {
    const pool = this.addPool(portalUrl, isProtected);
    this.pool = pool;
    const domain = new UserPoolDomain(this, 'Domain', {
      userPool: pool,
      cognitoDomain: { domainPrefix: this.domainPrefix() },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    const afterPasskey = `${portalUrl}account`;
    const client: UserPoolClient = pool.addClient('Client', {
      generateSecret: true,
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL],
        callbackUrls: [callback, afterPasskey],
        logoutUrls: [portalUrl],
      },
      authFlows: { user: true },
      // The portal verifies the token of identity once and keeps no token.
      idTokenValidity: Duration.minutes(5),
      accessTokenValidity: Duration.minutes(5),
      refreshTokenValidity: Duration.hours(1),
      enableTokenRevocation: true,
      preventUserExistenceErrors: true,
    });
    // Without a style the newer managed login shows an error instead of its pages.
    const style = new CfnManagedLoginBranding(this, 'Style', {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    style.node.addDependency(domain);
    const { attrClientSecret } = client.node.defaultChild as CfnUserPoolClient;
    this.secret = this.addSecret(SecretValue.unsafePlainText(attrClientSecret));
    addOutput(this, 'UserPoolId', { value: pool.userPoolId });
    const query = `client_id=${client.userPoolClientId}&response_type=code&scope=openid+email&redirect_uri=${afterPasskey}`;
    return {
      issuer: pool.userPoolProviderUrl,
      clientId: client.userPoolClientId,
      emailsAreVerified: false,
      hasAuthTime: true,
      credentialsUrl: `${this.origin}/passkeys/add?${query}`,
    };
  }

  private registerElsewhere(signIn: OtherIssuer): SignInFacts {
    this.secret = this.addSecret();
    const { issuer, clientId, emailsAreVerified, hasAuthTime } = signIn;
    return { issuer, clientId, emailsAreVerified, hasAuthTime, credentialsUrl: null };
  }

  /** @param value absent: a drawn value, until `admin portal set-secret` sets the secret of the issuer */
  private addSecret(value?: SecretValue): Secret {
    const secret = new Secret(this, 'ClientSecret', {
      description: 'Darkroom: the client secret with which the portal signs people in',
      ...(value
        ? { secretStringValue: value }
        : { generateSecretString: { passwordLength: 64, excludePunctuation: true } }),
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(secret, {
      'AwsSolutions-SMG4': 'The issuer draws the secret of its client. Nothing here could draw a new one.',
    });
    addOutput(this, 'SignInSecretArn', { value: secret.secretArn });
    return secret;
  }

  /** Lets a function sign people in. */
  grantSignIn(fn: LambdaFunction): void {
    if (!this.facts || !this.secret) throw new Error('the portal is not registered yet');
    fn.addEnvironment('PORTAL_ISSUER', this.facts.issuer);
    fn.addEnvironment('PORTAL_CLIENT_ID', this.facts.clientId);
    fn.addEnvironment('SIGN_IN_SECRET_ARN', this.secret.secretArn);
    allow(fn, ['secretsmanager:GetSecretValue'], [this.secret.secretArn]);
  }

  /** Lets a function make a user for an invited person. Another issuer has its own way, and gets no call. */
  grantInvite(fn: LambdaFunction): void {
    fn.addEnvironment('USER_POOL_ID', this.pool?.userPoolId ?? '');
    if (this.pool) allow(fn, ['cognito-idp:AdminCreateUser'], [this.pool.userPoolArn]);
  }
}
