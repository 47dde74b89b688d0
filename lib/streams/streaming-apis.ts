import { CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  CfnAccount,
  EndpointType,
  LambdaIntegration,
  ResponseTransferMode,
  RestApi,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct, type IDependable } from 'constructs';
import { openaiOperations } from '../../service/contract/operations.ts';
import { acknowledge } from '../acknowledge.ts';
import type { PublicApi } from '../public-api.ts';
import type { ServiceFunction } from '../service-function.ts';
import { addOutput, serviceName } from '../service-scope.ts';
import type { Settings } from '../settings.ts';
import { throttlesOf, throttling as limitsOf } from '../throttles.ts';
import { type GatewayAnswer, mcpAnswers, openaiAnswers } from './gateway-answers.ts';
import type { StreamFunctions } from './stream-functions.ts';

/**
 * The role by which API Gateway writes the logs of REST APIs. An account has one for each region, so it stays
 * when the stack goes: other APIs may use it by then.
 */
class GatewayLogRole extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const role = new Role(this, 'Role', {
      description: 'Lets API Gateway write the logs of the REST APIs of this account and region',
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
      ],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    acknowledge(role, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'API Gateway refuses a role with less, and every REST API of the account writes by it. Only API Gateway can assume the role.',
    });
    new CfnAccount(this, 'Account', { cloudWatchRoleArn: role.roleArn }).applyRemovalPolicy(
      RemovalPolicy.RETAIN,
    );
  }
}

/** A function that streams its answers, or the alias of one. */
interface StreamingTarget {
  readonly fn: IFunction;
  /** The time limit of the function. */
  readonly timeout: Duration | undefined;
}

interface StreamingRoute {
  /** "ANY": every method. */
  readonly method: string;
  readonly path: string;
  readonly to: StreamingTarget;
}

export interface StreamingApiProps {
  /** The stage, which is the first step of each path: on the default address, and on the custom domain. */
  readonly stage: string;
  readonly description: string;
  readonly routes: readonly StreamingRoute[];
  readonly answers: readonly GatewayAnswer[];
  /** The types of bodies that reach the function as base64. API Gateway reads every other body as text. */
  readonly binaryTypes?: readonly string[];
  readonly throttling: Settings['throttling'];
  /** Whether API Gateway sends a trace of each sampled request to X-Ray. */
  readonly tracing: boolean;
  readonly accessLogArn: string;
  /** What lets API Gateway write access logs of REST APIs. Absent: the account has it already. */
  readonly logRole: IDependable | undefined;
  /** The firewall before the API. */
  readonly webAclArn: string | undefined;
  /** Whether the API answers at its default address. */
  readonly hasDefaultAddress: boolean;
}

/** API Gateway waits a little longer than a function may run, so that the function ends first. */
const graceSeconds = 5;

/** A REST API whose functions stream their answers, for up to 15 minutes. An HTTP API gives up after 30 s. */
export class StreamingApi extends Construct {
  readonly restApi: RestApi;
  /** The default address, without a slash at its end. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: StreamingApiProps) {
    super(scope, id);
    const { stage, description, tracing, accessLogArn, logRole, webAclArn, hasDefaultAddress } = props;
    this.restApi = new RestApi(this, 'RestApi', {
      // The metrics of a REST API are found by its name.
      restApiName: `${serviceName(this)}-${stage}`,
      description,
      endpointTypes: [EndpointType.REGIONAL],
      binaryMediaTypes: [...(props.binaryTypes ?? [])],
      // The role belongs to the whole account: gateway-log-role.ts.
      cloudWatchRole: false,
      ...(!hasDefaultAddress && { disableExecuteApiEndpoint: true }),
      deployOptions: {
        stageName: stage,
        ...throttledMethods(props),
        ...(tracing && { tracingEnabled: tracing }),
        accessLogDestination: { bind: () => ({ destinationArn: accessLogArn }) },
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFormat(stage))),
      },
    });
    // A separate output, which is not used.
    const endpoint = this.restApi.node.tryFindChild('Endpoint');
    if (endpoint instanceof CfnOutput) this.restApi.node.tryRemoveChild('Endpoint');
    if (logRole) this.restApi.deploymentStage.node.addDependency(logRole);
    this.addRoutes(props.routes);
    for (const answer of props.answers) this.addAnswer(answer);
    const { stageArn: resourceArn } = this.restApi.deploymentStage;
    if (webAclArn !== undefined) new CfnWebACLAssociation(this, 'Firewall', { resourceArn, webAclArn });
    this.acknowledgeFindings(webAclArn !== undefined);
    this.url = this.restApi.urlForPath('/').replace(/\/$/, '');
  }

  private addRoutes(routes: readonly StreamingRoute[]): void {
    const integrations = new Map<StreamingTarget, LambdaIntegration>();
    for (const { method, path, to } of routes) {
      const integration =
        integrations.get(to) ??
        new LambdaIntegration(to.fn, {
          responseTransferMode: ResponseTransferMode.STREAM,
          ...(to.timeout && { timeout: to.timeout.plus(Duration.seconds(graceSeconds)) }),
          // A permission for each method would add a resource for each.
          scopePermissionToMethod: false,
        });
      integrations.set(to, integration);
      this.restApi.root.resourceForPath(path).addMethod(method, integration);
    }
  }

  private addAnswer({ type, status, headers, body }: GatewayAnswer): void {
    this.restApi.addGatewayResponse(type.responseType, {
      type,
      statusCode: String(status),
      responseHeaders: { ...headers },
      templates: { 'application/json': JSON.stringify(body) },
    });
  }

  private acknowledgeFindings(hasFirewall: boolean): void {
    acknowledge(this.restApi, {
      'AwsSolutions-APIG2':
        'The functions check every request by themselves, and refuse a wrong one in the documented form.',
      ...(!hasFirewall && {
        'AwsSolutions-APIG3':
          'The functions block addresses with many rejected keys. A firewall costs more than the API; the setting webAclArn brings one.',
      }),
      'AwsSolutions-APIG4':
        'Every function authenticates by itself: a revoked key is dead at the next request, which a cached authorizer cannot promise, and refusals have the documented form.',
      'AwsSolutions-APIG6':
        'An execution log holds headers, and with them the keys of clients. The access log has every request.',
      'AwsSolutions-COG4': 'Clients send keys of the service. They are no users of a pool.',
    });
  }
}

/** Each operation has a throttle of its own. The paths of an API that are no operation share what its stage takes. */
function throttledMethods({ routes, throttling }: StreamingApiProps): Partial<StageOptions> {
  const { route, stage } = throttlesOf(throttling);
  const named = routes.filter(({ method }) => method !== 'ANY');
  if (named.length === 0) return limitsOf(route);
  const methodOptions = named.map(({ method, path }) => [`${path}/${method}`, limitsOf(route)] as const);
  return { ...limitsOf(stage), methodOptions: Object.fromEntries(methodOptions) };
}

/** The fields of the HTTP API's access log (public-api.ts). A REST API has other names for two of them. */
function accessLogFormat(stage: string): Readonly<Record<string, string>> {
  return {
    at: '$context.requestTime',
    requestId: '$context.requestId',
    route: `$context.httpMethod /${stage}$context.resourcePath`,
    status: '$context.status',
    latencyMillis: '$context.responseLatency',
    integrationMillis: '$context.integration.latency',
    responseBytes: '$context.responseLength',
    sourceIp: '$context.identity.sourceIp',
    error: '$context.error.message',
    integrationError: '$context.integration.error',
  };
}

export interface StreamingApisProps {
  readonly functions: StreamFunctions;
  /** The function, or the alias that gets its requests. */
  readonly live: (fn: ServiceFunction) => IFunction;
  /** Its custom domain serves the streaming APIs, too, and its access log has their requests. */
  readonly publicApi: PublicApi;
  readonly throttling: Settings['throttling'];
  readonly gatewayLogRole: Settings['gatewayLogRole'];
  readonly tracing: Settings['tracing'];
  readonly webAclArn: string | undefined;
  readonly hasDefaultAddress: boolean;
}

/** The OpenAI-shaped endpoint and MCP: two REST APIs, which the custom domain leads to by their first step. */
export class StreamingApis extends Construct {
  readonly openai: StreamingApi;
  readonly mcp: StreamingApi;
  /** The base URL of libraries for the OpenAI API. */
  readonly openaiUrl: string;
  readonly mcpUrl: string;

  constructor(scope: Construct, id: string, props: StreamingApisProps) {
    super(scope, id);
    const { functions, live, publicApi, throttling, tracing, webAclArn, hasDefaultAddress } = props;
    const target = (fn: ServiceFunction): StreamingTarget => ({ fn: live(fn), timeout: fn.timeout });
    const common = {
      throttling,
      tracing,
      webAclArn,
      hasDefaultAddress,
      accessLogArn: publicApi.accessLogArn,
      logRole: props.gatewayLogRole === 'create' ? new GatewayLogRole(this, 'LogRole') : undefined,
    };
    this.openai = new StreamingApi(this, 'Openai', {
      ...common,
      stage: 'openai',
      description: 'Darkroom: the OpenAI-shaped endpoint',
      routes: openaiRoutes(target(functions.openaiImages), target(functions.openaiModels)),
      answers: openaiAnswers,
      binaryTypes: ['multipart/form-data'],
    });
    this.mcp = new StreamingApi(this, 'Mcp', {
      ...common,
      stage: 'mcp',
      description: 'Darkroom: MCP',
      routes: [{ method: 'ANY', path: '/', to: target(functions.mcp) }],
      answers: mcpAnswers,
    });
    this.openaiUrl = `${publicApi.addressOf('openai', this.openai)}/v1`;
    this.mcpUrl = publicApi.addressOf('mcp', this.mcp);
    addOutput(this, 'OpenaiBaseUrl', { value: this.openaiUrl });
    addOutput(this, 'McpUrl', { value: this.mcpUrl });
  }
}

/** A route for each operation. The function of the models answers every other path with 404. */
function openaiRoutes(images: StreamingTarget, models: StreamingTarget): StreamingRoute[] {
  const operations = Object.values(openaiOperations).map(({ method, path, function: name }) => ({
    method,
    path: `/v1${path}`,
    to: name === 'images' ? images : models,
  }));
  const others = ['/v1/{proxy+}', '/{proxy+}'].map((path) => ({ method: 'ANY', path, to: models }));
  return [...operations, ...others];
}
