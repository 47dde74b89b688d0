import path from 'node:path';
import * as z from 'zod';
import { idOfArn, localAttributes } from './local-names.ts';
import type { Resource, Resources } from './resources.ts';

/** A Lambda function and the folder of its bundle. */
export interface LocalFunction {
  readonly id: string;
  /**
   * The logical id of the function's role. It is also the access key id by which the stand-ins know the
   * function.
   */
  readonly roleId: string;
  readonly codeFolder: string;
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** How many invocations Lambda runs at once. Absent: as many as there are. */
  readonly reservedConcurrency?: number | undefined;
}

/** An alias of a function, and the version that it names. */
export interface LocalAlias {
  readonly functionId: string;
  readonly name: string;
  readonly version: string;
}

/** A route of the HTTP API: `POST /images/generate`, or `$default`. */
export interface LocalRoute {
  readonly routeKey: string;
  readonly functionId: string;
}

/** A state machine. Its substitutions are already applied. */
export interface LocalStateMachine {
  readonly id: string;
  readonly arn: string;
  readonly definition: string;
}

const functionSchema = z.object({
  Role: z.string(),
  Handler: z.string(),
  Timeout: z.number().default(3),
  ReservedConcurrentExecutions: z.number().optional(),
  Environment: z
    .object({ Variables: z.record(z.string(), z.coerce.string()).default({}) })
    .default({ Variables: {} }),
});

/** The functions of the template in this folder. */
export function readFunctions(resources: Resources, folder: string): readonly LocalFunction[] {
  return resources.of('AWS::Lambda::Function', functionSchema).map((resource) => {
    const { id, properties, metadata, unsupported } = resource;
    const roleId = idOfArn('role', properties.Role);
    if (roleId === undefined) throw unsupported(`Role ${properties.Role} is not a role of this template`);
    const asset = metadata['aws:asset:path'];
    if (typeof asset !== 'string')
      throw unsupported(
        'no aws:asset:path in its metadata: synthesize with the context aws:cdk:enable-asset-metadata, and without inline code',
      );
    return {
      id,
      roleId,
      codeFolder: path.resolve(folder, asset),
      handler: properties.Handler,
      environment: properties.Environment.Variables,
      timeoutSeconds: properties.Timeout,
      reservedConcurrency: properties.ReservedConcurrentExecutions,
    };
  });
}

const aliasSchema = z.object({ FunctionName: z.string(), FunctionVersion: z.string(), Name: z.string() });

/** The aliases of the functions. */
export function readAliases(resources: Resources): readonly LocalAlias[] {
  return resources.of('AWS::Lambda::Alias', aliasSchema).map(({ properties }) => ({
    functionId: properties.FunctionName,
    name: properties.Name,
    version: properties.FunctionVersion,
  }));
}

const apiSchema = z.object({ ProtocolType: z.literal('HTTP') });
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
  resources.of('AWS::ApiGatewayV2::Api', apiSchema);
  const integrations = new Map(
    resources
      .of('AWS::ApiGatewayV2::Integration', integrationSchema)
      .map((integration) => [`integrations/${integration.id}`, integratedFunction(integration)]),
  );
  return resources.of('AWS::ApiGatewayV2::Route', routeSchema).map(({ properties, unsupported }) => {
    const functionId = integrations.get(properties.Target);
    if (functionId === undefined)
      throw unsupported(`Target ${properties.Target} is not an integration of this template`);
    return { routeKey: properties.RouteKey, functionId };
  });
}

function integratedFunction({
  properties,
  unsupported,
}: Resource<z.output<typeof integrationSchema>>): string {
  const functionId = idOfArn('function', properties.IntegrationUri);
  if (functionId === undefined)
    throw unsupported(`IntegrationUri ${properties.IntegrationUri} is not a function of this template`);
  return functionId;
}

const stateMachineSchema = z.object({
  StateMachineName: z.string().optional(),
  DefinitionString: z.string(),
  DefinitionSubstitutions: z.record(z.string(), z.coerce.string()).default({}),
});

/** The state machines, after their substitutions. */
export function readStateMachines(resources: Resources): readonly LocalStateMachine[] {
  return resources
    .of('AWS::StepFunctions::StateMachine', stateMachineSchema)
    .map(({ id, properties, unsupported }) => {
      const definition = properties.DefinitionString.replace(/\$\{([^}]+)\}/g, (_match, name: string) => {
        const value = properties.DefinitionSubstitutions[name];
        if (value === undefined) throw unsupported(`DefinitionSubstitutions has no ${name}`);
        return value;
      });
      return {
        id,
        arn:
          localAttributes(id, { Type: 'AWS::StepFunctions::StateMachine', Properties: properties }).Arn ?? '',
        definition,
      };
    });
}
