import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { apiRoot, operations, type OperationName } from '../core/contract.ts';

export interface PublicApiProps {
  readonly operations: Readonly<Record<OperationName, LambdaFunction>>;
  /** Answers what no route takes: unknown paths and wrong methods. */
  readonly unknownRoute: LambdaFunction;
}

/** The HTTP API: a route for each operation of the contract, and one for everything else. */
export class PublicApi extends Construct {
  readonly httpApi: HttpApi;

  constructor(scope: Construct, id: string, props: PublicApiProps) {
    super(scope, id);
    this.httpApi = new HttpApi(this, 'HttpApi', {
      apiName: 'darkroom',
      description: 'Darkroom: the public API',
      defaultIntegration: new HttpLambdaIntegration('UnknownRoute', props.unknownRoute),
    });
    for (const [name, operation] of Object.entries(operations)) {
      this.httpApi.addRoutes({
        path: `${apiRoot}${operation.path}`,
        methods: [operation.method === 'GET' ? HttpMethod.GET : HttpMethod.POST],
        integration: new HttpLambdaIntegration(name, props.operations[name as OperationName]),
      });
    }
  }

  /** The API's root, as clients use it. */
  get url(): string {
    return `${this.httpApi.apiEndpoint}${apiRoot}`;
  }
}
