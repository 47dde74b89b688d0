import * as z from 'zod';
import type { Resources } from './resources.ts';

/** A method of a REST API. `routeKey` is "POST /v1/images/generations". */
export interface LocalRestRoute {
  readonly routeKey: string;
  readonly functionId: string;
  /** How long API Gateway waits for the end of the answer. */
  readonly timeoutMillis: number;
}

export interface LocalGatewayAnswer {
  readonly status: number;
  /** A value is a text in single quotes, or `context.requestId`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answers that a stand-in can need. Each other refusal of API Gateway is one of these, too. */
const answerTypes = [
  'DEFAULT_4XX',
  'DEFAULT_5XX',
  'REQUEST_TOO_LARGE',
  'THROTTLED',
  // No firewall stands before one machine.
  'WAF_FILTERED',
] as const;
export type AnswerType = (typeof answerTypes)[number];

export interface LocalRestApi {
  readonly id: string;
  /** The first step of each path. */
  readonly stage: string;
  readonly routes: readonly LocalRestRoute[];
  /** The types of bodies that reach a function as base64. */
  readonly binaryTypes: readonly string[];
  readonly answers: Readonly<Record<AnswerType, LocalGatewayAnswer>>;
}

const apiSchema = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });
const stageSchema = z.object({ RestApiId: z.string(), StageName: z.string() });
const resourceSchema = z.object({ ParentId: z.string(), PathPart: z.string() });
const methodSchema = z.object({
  RestApiId: z.string(),
  ResourceId: z.string(),
  HttpMethod: z.string(),
  AuthorizationType: z.literal('NONE'),
  Integration: z.object({
    Type: z.literal('AWS_PROXY'),
    ResponseTransferMode: z.literal('STREAM'),
    TimeoutInMillis: z.number(),
    Uri: z.string().endsWith('/response-streaming-invocations'),
  }),
});
const headerValue = z.string().regex(/^('[^']*'|context\.requestId)$/);
const answerSchema = z.object({
  RestApiId: z.string(),
  ResponseType: z.enum(answerTypes),
  StatusCode: z.coerce.number(),
  ResponseParameters: z
    .record(z.string().regex(/^gatewayresponse\.header\./), headerValue)
    .default({})
    .transform((all) =>
      Object.fromEntries(
        Object.entries(all).map(([name, value]) => [name.replace('gatewayresponse.header.', ''), value]),
      ),
    ),
  // A template may name variables, such as $context.requestId. None of ours does.
  ResponseTemplates: z.strictObject({ 'application/json': z.string().regex(/^[^$]*$/) }),
});

/** The REST APIs, each with the functions behind it. */
export function readRestApis(resources: Resources): readonly LocalRestApi[] {
  const parts = new Map(
    resources
      .of('AWS::ApiGateway::Resource', resourceSchema)
      .map(({ id, properties }) => [id, properties] as const),
  );
  /** The path of a resource. The root is no resource of the template. */
  const pathOf = (id: string): string => {
    const part = parts.get(id);
    return part === undefined ? '' : `${pathOf(part.ParentId)}/${part.PathPart}`;
  };
  const stages = resources.of('AWS::ApiGateway::Stage', stageSchema);
  const methods = resources.of('AWS::ApiGateway::Method', methodSchema);
  const answers = resources.of('AWS::ApiGateway::GatewayResponse', answerSchema);
  return resources.of('AWS::ApiGateway::RestApi', apiSchema).map(({ id, properties, unsupported }) => {
    const [stage, ...others] = stages.filter((one) => one.properties.RestApiId === id);
    if (stage === undefined || others.length > 0) throw unsupported('it has not one stage');
    const own = answers.filter((one) => one.properties.RestApiId === id);
    const answerOf = (type: AnswerType): LocalGatewayAnswer => {
      const found = own.find((one) => one.properties.ResponseType === type)?.properties;
      if (found === undefined) throw unsupported(`it has no gateway response ${type}`);
      return {
        status: found.StatusCode,
        headers: found.ResponseParameters,
        body: found.ResponseTemplates['application/json'],
      };
    };
    return {
      id,
      stage: stage.properties.StageName,
      binaryTypes: properties.BinaryMediaTypes,
      routes: methods
        .filter((one) => one.properties.RestApiId === id)
        .map(({ properties: { HttpMethod, ResourceId, Integration }, functionIn }) => ({
          routeKey: `${HttpMethod} ${pathOf(ResourceId) || '/'}`,
          functionId: functionIn('Uri', Integration.Uri),
          timeoutMillis: Integration.TimeoutInMillis,
        })),
      answers: {
        DEFAULT_4XX: answerOf('DEFAULT_4XX'),
        DEFAULT_5XX: answerOf('DEFAULT_5XX'),
        REQUEST_TOO_LARGE: answerOf('REQUEST_TOO_LARGE'),
        THROTTLED: answerOf('THROTTLED'),
        WAF_FILTERED: answerOf('WAF_FILTERED'),
      },
    };
  });
}

/** A route of the HTTP API: `POST /images/generate`, or `$default`. */
export interface LocalRoute {
  readonly routeKey: string;
  readonly functionId: string;
}

const httpApiSchema = z.object({ ProtocolType: z.literal('HTTP') });
const integrationSchema = z.object({
  IntegrationType: z.literal('AWS_PROXY'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0'),
});
const routeSchema = z.object({
  RouteKey: z.string(),
  Target: z.string(),
  AuthorizationType: z.literal('NONE').default('NONE'),
});

/** The routes of the HTTP API, each with the function behind it. */
export function readRoutes(resources: Resources): readonly LocalRoute[] {
  resources.of('AWS::ApiGatewayV2::Api', httpApiSchema);
  const integrations = new Map(
    resources
      .of('AWS::ApiGatewayV2::Integration', integrationSchema)
      .map(({ id, properties, functionIn }) => [
        `integrations/${id}`,
        functionIn('IntegrationUri', properties.IntegrationUri),
      ]),
  );
  return resources.of('AWS::ApiGatewayV2::Route', routeSchema).map(({ properties, unsupported }) => {
    const functionId = integrations.get(properties.Target);
    if (functionId === undefined)
      throw unsupported(`Target ${properties.Target} is not an integration of this template`);
    return { routeKey: properties.RouteKey, functionId };
  });
}
