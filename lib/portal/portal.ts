import { Duration, RemovalPolicy, SecretValue, Stack } from 'aws-cdk-lib';
import type { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { PortalFunction } from '../../service/contract/operations.ts';
import { acknowledge, allow } from '../acknowledge.ts';
import type { AddFunction, ServiceFunction } from '../service-function.ts';
import { addOutput } from '../service-scope.ts';
import type { Settings } from '../settings.ts';
import { PortalDistribution, PortalPages } from './distribution.ts';
import { portalRoutes } from './routes.ts';
import { PortalIdentity, type SignInFacts } from './sign-in.ts';

export interface PortalProps {
  readonly settings: Settings['portal'];
  /** Whether there is a function for payments. */
  readonly takesPayments: boolean;
  readonly httpApi: HttpApi;
  /** The host under which the portal's distribution reaches the API. Absent: the API's default address. */
  readonly apiHost: string | undefined;
  readonly webAclArn: string | undefined;
  /** The address of the public API for clients. */
  readonly apiUrl: string;
  /** The addresses that the pages may use beside their own. */
  readonly origins: { readonly results: string; readonly uploads: string };
}

/** The functions, with the operations that each answers. */
const functions: Readonly<Record<PortalFunction, { readonly id: string; readonly description: string }>> = {
  'sign-in': { id: 'PortalSignIn', description: 'Signs people of the portal in and out' },
  read: { id: 'PortalRead', description: 'Answers what the portal shows of an account' },
  manage: { id: 'PortalManage', description: 'Changes keys, webhooks, alerts and people for the portal' },
  generate: { id: 'PortalGenerate', description: 'Answers the playground of the portal' },
  cancel: { id: 'PortalCancel', description: 'Cancels creations for the portal' },
  pay: { id: 'PortalPay', description: 'Answers for payments in the portal' },
  operate: { id: 'PortalOperate', description: 'Answers the operator’s part of the portal' },
};

/** PortalPay exists only where the operator takes payments. */
export type PortalFunctions = Readonly<Record<Exclude<PortalFunction, 'pay'>, ServiceFunction>> & {
  readonly pay?: ServiceFunction;
};

/** The portal: its pages, the API behind them, and who signs in. */
export class Portal extends Construct {
  /** https://HOST/ */
  readonly url: string;
  private readonly props: PortalProps;
  private readonly pages: PortalPages;
  private readonly identity: PortalIdentity;
  private readonly originSecret: Secret;
  private readonly signIn: SignInFacts;

  constructor(scope: Construct, id: string, props: PortalProps) {
    super(scope, id);
    this.props = props;
    const { settings, httpApi, origins } = props;
    this.pages = new PortalPages(this, 'Pages');
    this.identity = new PortalIdentity(this, 'Identity', settings.signIn);
    this.originSecret = this.addOriginSecret();
    const { origin } = new PortalDistribution(this, 'Front', {
      pages: this.pages.bucket,
      httpApi,
      apiHost: props.apiHost,
      webAclArn: props.webAclArn,
      originSecret: this.sentSecret(settings.originSecretVersion),
      domain: settings.domain,
      origins: { ...origins, signIn: this.identity.origin },
    });
    this.url = `${origin}/`;
    this.signIn = this.identity.register(this.url, origin, settings);
    addOutput(this, 'PortalUrl', { value: this.url });
  }

  /** Adds the functions of the portal and their routes. Gives them by what they answer. */
  addFunctions(add: AddFunction): PortalFunctions {
    const { takesPayments } = this.props;
    const made = Object.fromEntries(
      Object.entries(functions)
        .filter(([name]) => name !== 'pay' || takesPayments)
        .map(([name, { id, description }]) => {
          const fn = add(id, `portal-${name}`, {
            description,
            timeout: Duration.seconds(29),
            memoryMegabytes: 1024,
          });
          this.configure(fn);
          return [name, fn];
        }),
    ) as unknown as PortalFunctions;
    this.identity.grantSignIn(made['sign-in']);
    for (const fn of [made.manage, made.operate]) this.identity.grantInvite(fn);
    this.addRoutes(made);
    return made;
  }

  /** Adds the function that puts the pages into their bucket. */
  addPublisher(add: AddFunction, folder: string): void {
    const { apiUrl } = this.props;
    const fn = add('PublishPages', 'publish-pages', {
      description: 'Puts the pages of a release into the bucket of the portal',
      timeout: Duration.minutes(2),
      memoryMegabytes: 256,
      folder: { from: folder, as: 'pages' },
    });
    this.pages.publishBy(fn, { portalUrl: this.url, apiUrl });
  }

  /** What every function of the portal's API knows. */
  private configure(fn: LambdaFunction): void {
    const { settings, apiUrl, origins } = this.props;
    const { emailsAreVerified, hasAuthTime, credentialsUrl } = this.signIn;
    fn.addEnvironment('PORTAL_URL', this.url);
    fn.addEnvironment('API_URL', apiUrl);
    fn.addEnvironment('RESULTS_BASE_URL', origins.results);
    fn.addEnvironment(
      'PORTAL_SETTINGS',
      Stack.of(this).toJsonString({
        emails_are_verified: emailsAreVerified,
        has_auth_time: hasAuthTime,
        payment_url: settings.paymentUrl ?? null,
        takes_payments: this.props.takesPayments,
        contact: settings.contact ?? null,
        credentials_url: credentialsUrl,
        inbox_url: null,
      }),
    );
    fn.addEnvironment('ORIGIN_SECRET_ARN', this.originSecret.secretArn);
    allow(fn, ['secretsmanager:GetSecretValue'], [this.originSecret.secretArn]);
  }

  /** The routes exist on the API's own host, too. There the functions refuse, since the origin secret is missing. */
  private addRoutes(made: PortalFunctions): void {
    const { httpApi } = this.props;
    const integrations = Object.fromEntries(
      Object.entries(made).map(([name, fn]) => [
        name,
        // A permission for each route would be fifty resources more.
        new HttpLambdaIntegration(fn.node.id, fn as IFunction, { scopePermissionToRoute: false }),
      ]),
    ) as Record<PortalFunction, HttpLambdaIntegration>;
    for (const [method, path, name] of portalRoutes(new Set(Object.keys(made))))
      httpApi.addRoutes({ path, methods: [method as HttpMethod], integration: integrations[name] });
  }

  /**
   * What the distribution sends. CloudFormation reads the value only when the text of the reference changes. So a
   * deployment after a replacement changes the distribution only if the reference names the new version.
   */
  private sentSecret(version: string | undefined): SecretValue {
    const { secretArn } = this.originSecret;
    addOutput(this, 'OriginSecretArn', { value: secretArn });
    addOutput(this, 'OriginSecretVersion', { value: version ?? 'AWSCURRENT' });
    return SecretValue.secretsManager(secretArn, version === undefined ? {} : { versionId: version });
  }

  /** The distribution sends the secret with each request, and the functions answer no request without it. */
  private addOriginSecret(): Secret {
    const secret = new Secret(this, 'OriginSecret', {
      description: 'Darkroom: proves that a request came through the distribution of the portal',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(secret, {
      'AwsSolutions-SMG4':
        'The distribution gets the value at a deployment only, so an operator replaces the secret with `portal rotate-origin-secret`.',
    });
    return secret;
  }
}
