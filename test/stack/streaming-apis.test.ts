/** The REST APIs of the OpenAI-shaped endpoint and of MCP: their methods, their answers and their logs. */
import { describe, expect, it } from 'vitest';
import { openaiOperations, openaiRoot } from '../../service/contract/operations.ts';
import { nameOf, resolved, resourcesOf, wordOf } from './template.ts';

const apiOf = (stage: string) => {
  const api = resolved.restApis.find((known) => known.stage === stage);
  if (!api) throw new Error(`no API ${stage}`);
  return api;
};
const routesOf = (stage: string) =>
  apiOf(stage).routes.map(({ routeKey, functionId }) => [routeKey, nameOf(functionId)]);

describe('the streaming APIs', () => {
  it('The API openai has a method for each operation of the contract, and leads every other path to the function of the models', () => {
    expect(openaiRoot).toBe('/openai/v1');
    const stated = Object.values(openaiOperations).map(({ method, path, function: name }) => [
      `${method} /v1${path}`,
      name === 'images' ? 'OpenaiImages' : 'OpenaiModels',
    ]);
    const others = [
      ['ANY /v1/{proxy+}', 'OpenaiModels'],
      ['ANY /{proxy+}', 'OpenaiModels'],
    ];
    expect(routesOf('openai').sort()).toEqual([...stated, ...others].sort());
  });

  it('The API mcp has one path, which takes every method', () => {
    expect(routesOf('mcp')).toEqual([['ANY /', 'Mcp']]);
  });

  it('Every method streams the answer of its function, and asks for no credential of AWS', () => {
    const methods = resourcesOf('AWS::ApiGateway::Method');
    expect(methods).toHaveLength(7);
    for (const [, { Properties }] of methods) {
      expect(Properties).toMatchObject({
        AuthorizationType: 'NONE',
        Integration: { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', ResponseTransferMode: 'STREAM' },
      });
      expect(wordOf((Properties['Integration'] as { Uri: unknown }).Uri)).toMatch(
        /^arn:@AWS::Partition:apigateway:@AWS::Region:lambda:path\/2021-11-15\/functions\/@\w+\/response-streaming-invocations$/,
      );
    }
  });

  it('API Gateway may call each function for its own API alone', () => {
    const allowed = resourcesOf('AWS::Lambda::Permission')
      .filter(([id]) => id.startsWith('Streams'))
      .map(([, { Properties }]) => Properties);
    expect(allowed.map(({ FunctionName }) => wordOf(FunctionName)).sort()).toEqual([
      '@Mcp',
      '@OpenaiImages',
      '@OpenaiModels',
    ]);
    for (const { Action, Principal, SourceArn } of allowed) {
      expect([Action, Principal]).toEqual(['lambda:InvokeFunction', 'apigateway.amazonaws.com']);
      expect(wordOf(SourceArn)).toMatch(/:@Streams(Openai|Mcp)RestApi\/\*\/\*\/\*$/);
    }
  });

  it('The APIs are Regional, where a stream may be silent for five minutes, and have names that no other stack has', () => {
    const apis = resourcesOf('AWS::ApiGateway::RestApi').map(([, { Properties }]) => Properties);
    expect(apis).toEqual([
      {
        Name: 'Darkroom-openai',
        Description: 'Darkroom: the OpenAI-shaped endpoint',
        EndpointConfiguration: { Types: ['REGIONAL'] },
        BinaryMediaTypes: ['multipart/form-data'],
      },
      {
        Name: 'Darkroom-mcp',
        Description: 'Darkroom: MCP',
        EndpointConfiguration: { Types: ['REGIONAL'] },
        BinaryMediaTypes: [],
      },
    ]);
  });

  it('Without the setting apiDomain the APIs have no mapping', () => {
    expect(resourcesOf('AWS::ApiGatewayV2::ApiMapping')).toEqual([]);
    expect(resourcesOf('AWS::ApiGatewayV2::DomainName')).toEqual([]);
  });
});

describe('the stages of the streaming APIs', () => {
  const stages = resourcesOf('AWS::ApiGateway::Stage').map(([, resource]) => resource);

  it.each(stages.map((stage) => [String(stage.Properties['StageName']), stage] as const))(
    'The stage %s has a throttle for each operation, and no execution log, which would hold keys',
    (name, { Properties }) => {
      const setting = (HttpMethod: string, ResourcePath: string, times: number): object => ({
        ResourcePath,
        HttpMethod,
        ThrottlingRateLimit: 500 * times,
        ThrottlingBurstLimit: 1_000 * times,
        DataTraceEnabled: false,
      });
      const stated = Object.values(openaiOperations).map(({ method, path }) =>
        setting(method, `/${`/v1${path}`.replaceAll('/', '~1')}`, 1),
      );
      expect(Properties['MethodSettings']).toEqual(
        name === 'mcp' ? [setting('*', '/*', 1)] : [setting('*', '/*', 2), ...stated],
      );
    },
  );

  it.each(stages.map((stage) => [String(stage.Properties['StageName']), stage] as const))(
    'The stage %s writes the fields of the access log, and no header, no query and no path that a client sent',
    (name, { Properties }) => {
      const log = Properties['AccessLogSetting'] as { DestinationArn: unknown; Format: string };
      expect(wordOf(log.DestinationArn)).toMatch(/^arn:.*:log-group:@ApiAccessLog$/);
      expect(JSON.parse(log.Format)).toEqual({
        at: '$context.requestTime',
        requestId: '$context.requestId',
        route: `$context.httpMethod /${name}$context.resourcePath`,
        status: '$context.status',
        latencyMillis: '$context.responseLatency',
        integrationMillis: '$context.integration.latency',
        responseBytes: '$context.responseLength',
        sourceIp: '$context.identity.sourceIp',
        error: '$context.error.message',
        integrationError: '$context.integration.error',
      });
    },
  );

  it('The stages come after the role by which API Gateway writes their logs, and the role survives the stack', () => {
    const [[account, resource] = []] = resourcesOf('AWS::ApiGateway::Account');
    expect(resource).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    const role = wordOf(resource?.Properties['CloudWatchRoleArn']).slice(1);
    expect(resourcesOf('AWS::IAM::Role').find(([id]) => nameOf(id) === role)?.[1]).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        AssumeRolePolicyDocument: { Statement: [{ Principal: { Service: 'apigateway.amazonaws.com' } }] },
      },
    });
    expect(stages).toHaveLength(2);
    for (const { DependsOn } of stages) expect(DependsOn).toContain(account);
  });

  it('A changed answer of API Gateway makes a new deployment of its API', () => {
    const deployments = resourcesOf('AWS::ApiGateway::Deployment');
    const answers = resourcesOf('AWS::ApiGateway::GatewayResponse').map(([id]) => id);
    expect(deployments.flatMap(([, { DependsOn = [] }]) => DependsOn)).toEqual(
      expect.arrayContaining(answers),
    );
    expect(answers).toHaveLength(10);
  });
});

describe('the answers of API Gateway', () => {
  const headersOf = (stage: string) =>
    Object.fromEntries(
      Object.entries(apiOf(stage).answers).map(([type, { status, headers }]) => [type, [status, headers]]),
    );
  const id = { 'x-request-id': 'context.requestId' };
  const again = { ...id, 'x-should-retry': "'true'", 'Retry-After': "'5'" };
  const never = { ...id, 'x-should-retry': "'false'" };

  it.each(['openai', 'mcp'])(
    'The API %s says of each answer of API Gateway whether to repeat the request, and when',
    (stage) => {
      expect(headersOf(stage)).toEqual({
        DEFAULT_5XX: [503, again],
        THROTTLED: [429, again],
        REQUEST_TOO_LARGE: [413, never],
        WAF_FILTERED: [403, never],
        DEFAULT_4XX: [404, never],
      });
    },
  );

  it('The API openai refuses in the form of OpenAI', () => {
    const errors = Object.entries(apiOf('openai').answers).map(([type, { body }]) => {
      const { error, ...rest } = JSON.parse(body) as { error: Record<string, unknown> };
      expect(rest).toEqual({});
      expect(error['message']).toMatch(/^[A-Z].{20,}\.$/);
      expect(error['param']).toBe(null);
      return [type, [error['type'], error['code']]];
    });
    expect(Object.fromEntries(errors)).toEqual({
      DEFAULT_5XX: ['server_error', 'overloaded'],
      THROTTLED: ['rate_limit_error', 'rate_limit_exceeded'],
      REQUEST_TOO_LARGE: ['invalid_request_error', 'request_too_large'],
      WAF_FILTERED: ['permission_error', 'request_blocked'],
      DEFAULT_4XX: ['invalid_request_error', 'unknown_url'],
    });
    expect(apiOf('openai').answers.REQUEST_TOO_LARGE.body).toContain('POST /api/public/v1/uploads');
  });

  it('The API mcp refuses as JSON-RPC does', () => {
    for (const { body } of Object.values(apiOf('mcp').answers))
      expect(JSON.parse(body)).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_000, message: expect.stringMatching(/^[A-Z].{20,}\.$/) as string },
      });
  });
});
