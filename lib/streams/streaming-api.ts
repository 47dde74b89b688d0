import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { Settings } from '../settings.ts';
import type { GatewayAnswer } from './gateway-answers.ts';

/** A function that streams its answers, or the alias of one. */
export interface StreamingTarget {
  readonly fn: IFunction;
  /** The time limit of the function. */
  readonly timeout: Duration;
}

export interface StreamingRoute {
  /** "ANY": whatever the method. */
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
    const { stage, description, throttling, tracing, accessLogArn, logRole } = props;
    this.restApi = new RestApi(this, 'RestApi', {
      // The metrics of a REST API are found by its name.
      restApiName: `${Stack.of(this).stackName}-${stage}`,
      description,
      endpointTypes: [EndpointType.REGIONAL],
      binaryMediaTypes: [...(props.binaryTypes ?? [])],
      // The role belongs to the whole account: gateway-log-role.ts.
      cloudWatchRole: false,
      deployOptions: {
        stageName: stage,
        throttlingRateLimit: throttling.ratePerSecond,
        throttlingBurstLimit: throttling.burst,
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
    this.acknowledgeFindings();
    this.url = this.restApi.urlForPath('/').replace(/\/$/, '');
  }

  private addRoutes(routes: readonly StreamingRoute[]): void {
    const integrations = new Map<StreamingTarget, LambdaIntegration>();
    for (const { method, path, to } of routes) {
      const integration =
        integrations.get(to) ??
        new LambdaIntegration(to.fn, {
          responseTransferMode: ResponseTransferMode.STREAM,
          timeout: to.timeout.plus(Duration.seconds(graceSeconds)),
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

  private acknowledgeFindings(): void {
    acknowledge(this.restApi, {
      'AwsSolutions-APIG2':
        'The functions check every request by themselves, and refuse a wrong one in the documented form.',
      'AwsSolutions-APIG3':
        'The functions block addresses with many rejected keys. A firewall costs more than the API.',
      'AwsSolutions-APIG4':
        'Every function authenticates by itself: a revoked key is dead at the next request, which a cached authorizer cannot promise, and refusals have the documented form.',
      'AwsSolutions-APIG6':
        'An execution log holds headers, and with them the keys of clients. The access log has every request.',
      'AwsSolutions-COG4': 'Clients send keys of the service. They are no users of a pool.',
    });
  }
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
