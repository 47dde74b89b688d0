import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import {
  ApiMapping,
  CfnApiMapping,
  CfnRoute,
  DomainName,
  HttpApi,
  HttpMethod,
  type HttpRouteIntegrationBindOptions,
  SecurityPolicy,
  type CfnStage,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { apiRoot, callbackRoute, operations, type OperationName } from '../service/contract/operations.ts';
import { operatorRoot } from '../service/contract/operator-operations.ts';
import { acknowledge } from './acknowledge.ts';
import { addOutput, serviceName } from './service-scope.ts';
import type { Settings } from './settings.ts';
import { throttlesOf, throttling } from './throttles.ts';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';

export interface PublicApiProps {
  /** The functions, or aliases of them. */
  readonly operations: Readonly<Record<OperationName, IFunction>>;
  /** Answers requests that no route takes: unknown paths and wrong methods. */
  readonly unknownRoute: IFunction;
  /** Answers the operator API, which routes its paths by itself. */
  readonly operatorApi: IFunction;
  /** Takes the callbacks of vendors, which are no requests of clients. */
  readonly receiveCallback: IFunction;
  readonly logRetention: RetentionDays;
  /** Host name and certificate of the API. Absent: API Gateway gives a name. */
  readonly domain?: Settings['apiDomain'];
  /** Whether the API answers at the name that API Gateway gives. */
  readonly hasDefaultAddress: boolean;
}

/**
 * The fields of a line in the access log. Headers, query and path are left out, since a client
 * may put a key into them; the route is logged instead.
 */
const accessLogFormat = {
  at: '$context.requestTime',
  requestId: '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  latencyMillis: '$context.responseLatency',
  integrationMillis: '$context.integrationLatency',
  responseBytes: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
} as const;

/** Invokes a function for all methods of a path. One permission allows them all, so only the first route adds it. */
class PathIntegration extends HttpLambdaIntegration {
  private isAllowed = false;

  protected override completeBind(options: HttpRouteIntegrationBindOptions): void {
    if (!this.isAllowed) super.completeBind(options);
    this.isAllowed = true;
  }
}

/** The HTTP API: a route for each operation of the contract, and one for everything else. */
export class PublicApi extends Construct {
  readonly httpApi: HttpApi;
  /** The address of the API's root for clients. */
  readonly url: string;
  /** The address under which vendors reach the API. It has no slash at its end. */
  readonly callbackBaseUrl: string;
  /** The log with a line for each request. */
  readonly accessLogArn: string;
  readonly accessLogName: string;
  /** Absent: API Gateway gives a name. */
  private readonly domain: DomainName | undefined;

  constructor(scope: Construct, id: string, props: PublicApiProps) {
    super(scope, id);
    this.httpApi = new HttpApi(this, 'HttpApi', {
      apiName: `${serviceName(this)}-api`,
      description: 'Darkroom: the public API',
      ...(!props.hasDefaultAddress && { disableExecuteApiEndpoint: true }),
      defaultIntegration: new HttpLambdaIntegration('UnknownRoute', props.unknownRoute),
    });
    // The operations of a path that one function answers share integration and permission: a stack has 500 resources.
    const shared = new Map<string, HttpLambdaIntegration>();
    for (const [name, { path, method, handler }] of Object.entries(operations)) {
      const fn = props.operations[name as OperationName];
      const integration = shared.get(`${handler} ${path}`) ?? new PathIntegration(name, fn);
      shared.set(`${handler} ${path}`, integration);
      this.httpApi.addRoutes({ path: `${apiRoot}${path}`, methods: [HttpMethod[method]], integration });
    }
    this.httpApi.addRoutes({
      path: `${operatorRoot}/{proxy+}`,
      methods: [HttpMethod.ANY],
      integration: new HttpLambdaIntegration('operatorApi', props.operatorApi),
    });
    this.httpApi.addRoutes({
      path: callbackRoute,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('receiveCallback', props.receiveCallback),
    });
    acknowledge(this.httpApi, {
      'AwsSolutions-APIG4':
        'Every function authenticates by itself: a revoked key is dead at the next request, which a cached authorizer cannot promise, and refusals have the documented form. A callback proves itself by the capability in its path and by the signature of its vendor.',
    });
    this.accessLogName = this.addAccessLog(props.logRetention);
    this.accessLogArn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${this.accessLogName}`;
    this.stage.accessLogSettings = {
      destinationArn: this.accessLogArn,
      format: JSON.stringify(accessLogFormat),
    };
    this.domain = props.domain && this.addDomain(props.domain);
    this.callbackBaseUrl = props.domain ? `https://${props.domain.name}` : this.httpApi.apiEndpoint;
    this.url = `${this.callbackBaseUrl}${apiRoot}`;
  }

  /**
   * The address of a streaming API for clients, without a slash at its end. The custom domain leads to the API by
   * the first step of the path.
   */
  addressOf(
    firstStep: string,
    { restApi, url }: { readonly restApi: RestApi; readonly url: string },
  ): string {
    if (!this.domain) return url;
    new CfnApiMapping(this, `${firstStep}Mapping`, {
      apiId: restApi.restApiId,
      stage: restApi.deploymentStage.stageName,
      domainName: this.domain.name,
      apiMappingKey: firstStep,
    });
    return `${this.callbackBaseUrl}/${firstStep}`;
  }

  private addAccessLog(logRetention: RetentionDays): string {
    const log = new LogGroup(this, 'AccessLog', {
      // Log groups under this prefix need no entry in the account's resource policy of CloudWatch Logs, whose
      // size is limited.
      logGroupName: `/aws/vendedlogs/${serviceName(this)}/api`,
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return log.logGroupName;
  }

  /**
   * Gives every route a throttle of its own, so that who uses up one route, such as that of unknown paths, keeps
   * nobody out of another. Called when the API has all its routes.
   */
  throttleRoutes(setting: Settings['throttling']): void {
    const throttles = throttlesOf(setting);
    const { ratePerSecond: ThrottlingRateLimit, burst: ThrottlingBurstLimit } = throttles.route;
    const routes = this.httpApi.node.findAll().filter((one) => one instanceof CfnRoute);
    this.stage.defaultRouteSettings = throttling(throttles.stage);
    this.stage.routeSettings = Object.fromEntries(
      routes.map(({ routeKey }) => [routeKey, { ThrottlingRateLimit, ThrottlingBurstLimit }]),
    );
    // CloudFormation refuses settings of a route that does not exist yet.
    for (const route of routes) this.stage.node.addDependency(route);
  }

  /** HttpApi creates its default stage itself, and has no properties for log and throttles. */
  private get stage(): CfnStage {
    return this.httpApi.defaultStage?.node.defaultChild as CfnStage;
  }

  private addDomain({ name, certificateArn }: NonNullable<Settings['apiDomain']>): DomainName {
    const domain = new DomainName(this, 'Domain', {
      domainName: name,
      // A domain that leads to REST APIs could take TLS 1.0.
      securityPolicy: SecurityPolicy.TLS_1_2,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
    new ApiMapping(this, 'Mapping', { api: this.httpApi, domainName: domain });
    addOutput(this, 'ApiDomainTarget', {
      description: `Where DNS has to send ${name}`,
      value: domain.regionalDomainName,
    });
    return domain;
  }
}
