import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { openaiOperations } from '../../service/contract/operations.ts';
import type { PublicApi } from '../public-api.ts';
import type { ServiceFunction } from '../service-function.ts';
import type { Settings } from '../settings.ts';
import { mcpAnswers, openaiAnswers } from './gateway-answers.ts';
import { GatewayLogRole } from './gateway-log-role.ts';
import type { StreamFunction, StreamFunctions } from './stream-functions.ts';
import { StreamingApi, type StreamingRoute, type StreamingTarget } from './streaming-api.ts';

export interface StreamingApisProps {
  readonly functions: StreamFunctions;
  /** The function, or the alias that gets the requests in its place. */
  readonly live: (fn: ServiceFunction) => IFunction;
  /** Its custom domain serves the streaming APIs, too, and its access log has their requests. */
  readonly publicApi: PublicApi;
  readonly throttling: Settings['throttling'];
  readonly gatewayLogRole: Settings['gatewayLogRole'];
  readonly tracing: Settings['tracing'];
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
    const { functions, live, publicApi, throttling, tracing } = props;
    const target = ({ fn, timeout }: StreamFunction): StreamingTarget => ({ fn: live(fn), timeout });
    const common = {
      throttling,
      tracing,
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
    const stack = Stack.of(this);
    this.openaiUrl = `${publicApi.addressOf('openai', this.openai)}/v1`;
    this.mcpUrl = publicApi.addressOf('mcp', this.mcp);
    new CfnOutput(stack, 'OpenaiBaseUrl', { value: this.openaiUrl });
    new CfnOutput(stack, 'McpUrl', { value: this.mcpUrl });
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
